// The list of all language runtimes that are known here, and of the ways in which several of them describe their code;
// and what is asked of all of them together. find_runtime.h asks for the one that a process has.
//
// Threads: what reads a file or a process may block for ever, and belongs on a reader thread.
#ifndef OFFCPU_RUNTIMES_KNOWN_RUNTIMES_H_
#define OFFCPU_RUNTIMES_KNOWN_RUNTIMES_H_

#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "process/address_space.h"
#include "process/code_reader.h"
#include "process/elf/file.h"
#include "process/memory.h"
#include "process/memory_budget.h"
#include "runtimes/find_runtime.h"
#include "runtimes/function_list.h"

namespace offcpu {

// One of them, by what it has to say; null: nothing of that kind.
struct KnownRuntime {
  // What it adds to code while that is read.
  CodeReader code{};
  // The functions that a module's own table names; null: it has no such table. ResourceExhausted: it is too large.
  absl::StatusOr<std::unique_ptr<FunctionList>> (*functions)(const ElfFile& file) = nullptr;
  // The runtime of the process, if the module of `code`, whose file is open, shows that it has one; else kNone.
  FoundRuntime (*find)(const MappedCode& code, const Memory& memory, MemoryLease room) = nullptr;
};

std::span<const KnownRuntime> KnownRuntimes();

// Asks the runtimes in their order: the first one that knows a module reads it, and all of them add to code in no file.
CodeReader RuntimesReader();

// The functions that the first such table of the file, which must outlive it, names; null: it has none.
// ResourceExhausted: it is larger than is searched.
absl::StatusOr<std::unique_ptr<FunctionList>> FunctionsOf(const ElfFile& file);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_KNOWN_RUNTIMES_H_

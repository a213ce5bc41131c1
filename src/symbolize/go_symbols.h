// Functions of a Go program from the table that its own runtime needs (process/go_table.h). Any file is safe to read.
#ifndef OFFCPU_SYMBOLIZE_GO_SYMBOLS_H_
#define OFFCPU_SYMBOLIZE_GO_SYMBOLS_H_

#include <cstdint>
#include <span>

#include "process/elf/file.h"
#include "process/memory.h"
#include "symbolize/module_names.h"

namespace offcpu {

// `addresses`: link-time, sorted, each once. `full` if `elf` has such a table of a version that is known.
ModuleNames ReadGoSymbols(const ElfFile& elf, std::span<const uint64_t> addresses);

// The same of a table, the first `bytes` of `memory`; `text_address` is that of the code if the table does not say.
ModuleNames SearchGoTable(const Memory& memory, uint64_t bytes, uint64_t text_address,
                          std::span<const uint64_t> addresses);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_GO_SYMBOLS_H_

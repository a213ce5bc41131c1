// Functions of a Go program from the table that its own runtime needs (table.h). Any bytes are safe to read.
#ifndef OFFCPU_RUNTIMES_GO_FUNCTIONS_H_
#define OFFCPU_RUNTIMES_GO_FUNCTIONS_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "process/elf/file.h"
#include "process/memory.h"
#include "runtimes/function_list.h"

namespace offcpu {

// By link-time addresses. Null unless `file`, whose memory must outlive it, has such a table of a version that is
// known; ResourceExhausted if that is larger than is searched.
absl::StatusOr<std::unique_ptr<FunctionList>> GoFunctions(const ElfFile& file);

// The same of a table, [begin, begin + bytes) of `memory`, which must outlive it; `text_address` is that of the code if
// the table does not say.
std::unique_ptr<FunctionList> GoFunctionsOf(const Memory& memory, uint64_t begin, uint64_t bytes,
                                            uint64_t text_address);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_GO_FUNCTIONS_H_

// Functions of a Go program from the table that its own runtime needs (table.h). Any bytes are safe to read.
#ifndef OFFCPU_RUNTIMES_GO_FUNCTIONS_H_
#define OFFCPU_RUNTIMES_GO_FUNCTIONS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "process/elf/file.h"
#include "runtimes/function_list.h"

namespace offcpu {

// By link-time addresses. Null unless `file` has such a table of a version that is known.
std::unique_ptr<FunctionList> GoFunctions(const ElfFile& file);

// The same of a table's bytes; `text_address` is that of the code if the table does not say.
std::unique_ptr<FunctionList> GoFunctionsOf(std::string table, uint64_t text_address);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_GO_FUNCTIONS_H_

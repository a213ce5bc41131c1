// Functions of a Go program from the table that its own runtime needs (process/go_table.h). Any file is safe to read.
#ifndef OFFCPU_SYMBOLIZE_GO_SYMBOLS_H_
#define OFFCPU_SYMBOLIZE_GO_SYMBOLS_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "process/elf/file.h"
#include "symbolize/module_names.h"

namespace offcpu {

// `addresses`: link-time, sorted, each once. `full` if `elf` has such a table of a version that is known.
ModuleNames ReadGoSymbols(const ElfFile& elf, std::span<const uint64_t> addresses);

// The same of a table's bytes; `text_address` is that of the code if the table does not say.
ModuleNames SearchGoTable(std::string_view table, uint64_t text_address, std::span<const uint64_t> addresses);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_GO_SYMBOLS_H_

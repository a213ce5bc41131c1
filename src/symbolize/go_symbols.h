// Functions of a Go program from the table that its own runtime needs (process/go_table.h). Any file is safe to read.
#ifndef OFFCPU_SYMBOLIZE_GO_SYMBOLS_H_
#define OFFCPU_SYMBOLIZE_GO_SYMBOLS_H_

#include <cstdint>
#include <string>

#include "symbolize/elf_file.h"
#include "symbolize/symbol_table.h"

namespace offcpu {

// By link-time address. Empty if `elf` has no such table, or one of a version that is not known.
SymbolTable ReadGoSymbols(const ElfFile& elf);

// The same of a table's bytes; `text_address` is that of the code if the table does not say.
SymbolTable ParseGoTable(std::string table, uint64_t text_address);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_GO_SYMBOLS_H_

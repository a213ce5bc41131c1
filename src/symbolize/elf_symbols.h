// The function symbols of an ELF file: from .symtab, else from .dynsym together with the table that .gnu_debugdata
// holds compressed. What does not fit the file's own section headers is left out. Does not look for other files.
#ifndef OFFCPU_SYMBOLIZE_ELF_SYMBOLS_H_
#define OFFCPU_SYMBOLIZE_ELF_SYMBOLS_H_

#include "symbolize/elf_file.h"
#include "symbolize/symbol_table.h"

namespace offcpu {

struct ElfSymbols {
  SymbolTable table;  // by link-time address
  bool full = false;  // it is the file's .symtab: a separate debug file would add nothing
};

ElfSymbols ReadElfSymbols(const ElfFile& elf);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_ELF_SYMBOLS_H_

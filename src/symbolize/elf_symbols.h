// Names from the function symbols of an ELF file: from .symtab, else from .dynsym together with the table that
// .gnu_debugdata holds compressed. What does not fit the file's own section headers is left out. Tables are read a
// piece at a time, whatever their size, and searched for the addresses that are asked for. Does not look for other
// files.
//
// A symbol without a size names what follows up to the next symbol, the next function that an unwind table describes,
// or the end of its section. Where the file does not have all symbols, nobody knows what follows: there it names only a
// function that a table describes from the symbol on.
#ifndef OFFCPU_SYMBOLIZE_ELF_SYMBOLS_H_
#define OFFCPU_SYMBOLIZE_ELF_SYMBOLS_H_

#include <cstdint>
#include <span>

#include "process/elf/file.h"
#include "symbolize/function_starts.h"
#include "symbolize/module_names.h"

namespace offcpu {

inline constexpr uint64_t kMaxSymbolTableBytes = uint64_t{1} << 30;

inline constexpr size_t kMaxDebugDataBytes = 16u << 20;  // compressed, and what it holds

// `addresses`: link-time, sorted, each once. `starts`: of the file that holds the code, which a debug file does not.
// `full`: it is the file's .symtab.
ModuleNames ReadElfSymbols(const ElfFile& elf, std::span<const uint64_t> addresses, const FunctionStarts& starts);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_ELF_SYMBOLS_H_

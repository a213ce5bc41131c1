// Where the functions of an ELF file are, by its symbols. Safe from any thread; blocks as the file does. Every byte is
// taken as hostile. Reads no names.
#ifndef OFFCPU_PROCESS_ELF_FUNCTION_SYMBOLS_H_
#define OFFCPU_PROCESS_ELF_FUNCTION_SYMBOLS_H_

#include <cstddef>
#include <vector>

#include "process/elf/file.h"
#include "process/memory_budget.h"
#include "process/module.h"

namespace offcpu {

inline constexpr size_t kMaxFunctionSymbols = 1 << 18;  // in a table; a file with more has none here

// The functions in `section`, sorted, none of which begins in another one; of an object of 64 bits. A symbol without a
// size reaches to the next one, if the file has all symbols; else it is left out. `lease` lends the room for the table
// while that is read; none if there is no room.
std::vector<CodeRange> FunctionsIn(const ElfFile& file, const ElfSection& section, MemoryLease* lease);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_ELF_FUNCTION_SYMBOLS_H_

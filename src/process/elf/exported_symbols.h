// The functions that an ELF object exports, by PT_DYNAMIC, in the memory of the process that has mapped it: what names
// code whose file has no section headers or cannot be read. Safe from any thread; blocks as the memory does. Every byte
// is taken as hostile. Does not search the tables: see symbolize/exported_names.h.
#ifndef OFFCPU_PROCESS_ELF_EXPORTED_SYMBOLS_H_
#define OFFCPU_PROCESS_ELF_EXPORTED_SYMBOLS_H_

#include "process/elf/image.h"
#include "process/memory.h"
#include "process/module.h"

namespace offcpu {

// Fills `dynamic_symbols` and `dynamic_strings` of the module of `image`, for which its lease pays. They stay empty if
// there are none or no room, and if they are not in the object's own segments.
void AddExportedSymbols(const Memory& memory, ElfImage* image);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_ELF_EXPORTED_SYMBOLS_H_

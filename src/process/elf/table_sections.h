// A table of an ELF file by its section headers: for objects without PT_GNU_EH_FRAME, as static programs are linked,
// and without PT_GNU_SFRAME, as lld links. Section headers are not mapped, so `file` is the file itself, an offset
// being an address. Safe from any thread.
#ifndef OFFCPU_PROCESS_ELF_TABLE_SECTIONS_H_
#define OFFCPU_PROCESS_ELF_TABLE_SECTIONS_H_

#include <string_view>

#include "process/memory.h"
#include "process/module.h"

namespace offcpu {

// The section of this name that is mapped. Empty if there is none, or the file is damaged or the section larger than
// the limit of image.h.
ModuleTable ReadTableSection(const Memory& file, std::string_view name);

// .debug_frame, which is not mapped, uncompressed; its address is 0. Otherwise as above.
ModuleTable ReadDebugFrame(const Memory& file);

// Adds the tables that the program headers of `module` do not name, compares those that they do (matches_file), and
// says what else only sections tell.
void AddTableSections(const Memory& file, Module* module);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_ELF_TABLE_SECTIONS_H_

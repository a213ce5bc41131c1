// The .eh_frame of an ELF file by its section headers: for objects without PT_GNU_EH_FRAME, as static programs are
// linked. Section headers are not mapped, so `file` is the file itself, an offset being an address. Safe from any
// thread.
#ifndef OFFCPU_PROCESS_ELF_SECTIONS_H_
#define OFFCPU_PROCESS_ELF_SECTIONS_H_

#include "process/memory.h"
#include "process/module.h"

namespace offcpu {

// Empty if there is none, or the file is damaged or larger than the limits of elf_image.h.
ModuleTable ReadEhFrameSection(const Memory& file);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_ELF_SECTIONS_H_

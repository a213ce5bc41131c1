// The .debug_frame of an ELF file as if it were an .eh_frame: for programs that have no other table, such as Go's. It
// is not mapped, so that `file` is the file itself, an offset being an address. Every byte is taken as hostile. Safe
// from any thread; reads block as the file does.
//
// Does not interpret the entries, and leaves those out that .eh_frame has no form for: 64-bit ones.
#ifndef OFFCPU_PROCESS_DEBUG_FRAME_H_
#define OFFCPU_PROCESS_DEBUG_FRAME_H_

#include <cstddef>
#include <vector>

#include "process/memory.h"
#include "process/module.h"

namespace offcpu {

// Empty if the file has none that can be read, or a larger one than the limit of elf_image.h. The addresses in it are
// absolute, its own means nothing.
ModuleTable ReadDebugFrame(const Memory& file);

// The rewriting alone, of a section's bytes: the id of a CIE is all ones in the one and 0 in the other, and that of an
// FDE says where its CIE is, from the section's begin in the one, and from the id back in the other. What follows an
// entry that is damaged or in a 64-bit form is cut off.
void MakeEhFrame(std::vector<std::byte>* debug_frame);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_DEBUG_FRAME_H_

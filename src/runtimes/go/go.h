// Programs that Go's linker has made. Their code keeps a frame pointer wherever it has a frame. What their .debug_frame
// says of callers leaves out that functions of the runtime change to another stack: the words there are no return
// addresses. Where there is no frame, and where stacks begin or change, the table of the runtime itself says.
//
// Blocks as the file does. Programs of 32 bits keep no frame pointer, and are walked by their tables only.
#ifndef OFFCPU_RUNTIMES_GO_GO_H_
#define OFFCPU_RUNTIMES_GO_GO_H_

#include "process/elf/file.h"
#include "process/module.h"

namespace offcpu {

// See CodeReader::read_module.
bool ReadGoModule(const ElfFile& file, Module* module);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_GO_GO_H_

// Is what a process has mapped at a module's own addresses the module's text, moved to other memory? Programs move
// theirs to huge pages, by the heap, a file of hugetlbfs or a memfd. Blocks as the memory and the file do; safe from
// any thread.
#ifndef OFFCPU_PROCESS_ELF_MOVED_TEXT_H_
#define OFFCPU_PROCESS_ELF_MOVED_TEXT_H_

#include <cstdint>

#include "process/memory.h"
#include "process/module.h"

namespace offcpu {

// [begin, end) of the process, which is `bias` above link-time addresses. It must lie in a segment of code of the
// module, and say what the module's file says there, at most of the places that are compared; without its file the
// place decides.
bool IsMovedText(const Module& module, const Memory& memory, uint64_t begin, uint64_t end, uint64_t bias);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_ELF_MOVED_TEXT_H_

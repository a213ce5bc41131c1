// System calls of 32-bit programs, which have numbers of their own. Profiles have those of x86-64, so that a wait in
// read is one in read for either kind of program. Pure.
#ifndef OFFCPU_BPF_PROGRAMS_I386_CALLS_H_
#define OFFCPU_BPF_PROGRAMS_I386_CALLS_H_

#include <cstdint>

namespace offcpu {

// The number of the call of x86-64 that does the same as call `number` of i386; kNoSystemCall if there is none.
int32_t NativeCallOfI386(int32_t number);

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_I386_CALLS_H_

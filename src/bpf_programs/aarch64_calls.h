// System calls of AArch64, which have numbers of their own. Profiles have those of x86-64, so that a profile says the
// same on whatever machine it is read. Pure.
#ifndef OFFCPU_BPF_PROGRAMS_AARCH64_CALLS_H_
#define OFFCPU_BPF_PROGRAMS_AARCH64_CALLS_H_

#include <cstdint>

namespace offcpu {

// The number of the call of x86-64 that does the same as call `number` of AArch64; kNoSystemCall if there is none.
int32_t ProfileCallOfAArch64(int32_t number);

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_AARCH64_CALLS_H_

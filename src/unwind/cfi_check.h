// Is a sequence of DWARF call frame instructions well-formed: does each end where the sequence does, does it only name
// registers of this machine and remember a reasonable number of states? A pure function of the bytes; safe from any
// thread. Does not execute them.
//
// libdw executes a sequence anew for each address that is asked for, and anybody may have files of his own walked. So
// the limits are such that this takes less than a millisecond. "Found" is the most in five million entries of programs
// and libraries.
#ifndef OFFCPU_UNWIND_CFI_CHECK_H_
#define OFFCPU_UNWIND_CFI_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "process/machine.h"

namespace offcpu {

inline constexpr size_t kMaxCfiBytes = 128 << 10;      // of one sequence; found: 60,755, in cuFFT
inline constexpr size_t kMaxCfiRememberedStates = 64;  // at once; found: 1
inline constexpr size_t kMaxCfiRememberings = 4096;    // in all, each a copy of the state; found: 1857, in NVRTC
// libdw makes 32 bytes of each operation, and keeps them. No expression that a row can hold needs more than 16; found:
// 14, in the vector functions of glibc and Java.
inline constexpr uint64_t kMaxCfiExpressionBytes = 32;
// SVML, which numpy brings along, saves mask registers of x86-64, the last of which is 125. The last register that
// AArch64's functions preserve is 79. libdw has a state of 8 bytes for each up to the highest one that is named.
inline constexpr uint64_t kMaxCfiRegister = 127;
// The same in a CIE, whose state libdw keeps. AArch64's stack pointer is 31; found: 16, the return address.
inline constexpr uint64_t kMaxCieRegister = 32;

// `max_register`: the highest that may be named.
bool CfiWellFormed(const Machine& machine, std::span<const std::byte> instructions,
                   uint64_t max_register = kMaxCfiRegister);

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_CFI_CHECK_H_

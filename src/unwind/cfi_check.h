// Is a sequence of DWARF call frame instructions well-formed: does each end where the sequence does, does it only name
// registers of this machine and remember a reasonable number of states? A pure function of the bytes; safe from any
// thread. Does not execute them.
#ifndef OFFCPU_UNWIND_CFI_CHECK_H_
#define OFFCPU_UNWIND_CFI_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace offcpu {

inline constexpr size_t kMaxCfiBytes = 1 << 20;        // of one sequence
inline constexpr uint64_t kMaxCfiRegister = 255;       // x86-64 has numbers up to about 150
inline constexpr size_t kMaxCfiRememberedStates = 64;  // at once
inline constexpr uint64_t kMaxCfiExpressionBytes = 256;

bool CfiWellFormed(std::span<const std::byte> instructions);

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_CFI_CHECK_H_

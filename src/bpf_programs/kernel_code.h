// The code of the running kernel's functions, where that alone tells whether a function has been mended: distributions
// mend kernels without changing what their versions say. Needs the rights to load BPF programs. x86-64.
#ifndef OFFCPU_BPF_PROGRAMS_KERNEL_CODE_H_
#define OFFCPU_BPF_PROGRAMS_KERNEL_CODE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace offcpu {

// The first bytes of what lies at the address. PermissionDenied, or what else the kernel says.
absl::StatusOr<std::vector<uint8_t>> ReadKernelCode(uint64_t address);

// Does code that lies at `address` call the function at `callee`? By any five bytes that are such a call, aligned to
// instructions or not. Intel SDM volume 2, CALL: e8, and how far it is from the next instruction, signed, 32 bits.
bool Calls(std::span<const uint8_t> code, uint64_t address, uint64_t callee);

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_KERNEL_CODE_H_

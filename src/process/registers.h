// The general registers of a thread in user mode, numbered as DWARF numbers them for its machine (machine.h).
#ifndef OFFCPU_PROCESS_REGISTERS_H_
#define OFFCPU_PROCESS_REGISTERS_H_

#include <array>
#include <cstdint>

namespace offcpu {

// System V ABI, x86-64 supplement, figure 3.36.
enum Register : uint8_t {
  kRax = 0,
  kRdx,
  kRcx,
  kRbx,
  kRsi,
  kRdi,
  kRbp,
  kRsp,
  kR8,
  kR9,
  kR10,
  kR11,
  kR12,
  kR13,
  kR14,
  kR15,
  kRip,
};
inline constexpr int kRegisterCount = 17;

// DWARF for the Arm 64-bit Architecture, section 4.1: x0 is 0.
enum AArch64Register : uint8_t { kX0 = 0, kX1, kX2, kX19 = 19, kX29 = 29, kX30 = 30, kAArch64Sp = 31, kAArch64Pc = 32 };

// System V ABI, Intel386 supplement, table 2.14.
enum I386Register : uint8_t { kEax = 0, kEcx, kEdx, kEbx, kEsp, kEbp, kEsi, kEdi, kEip };

inline constexpr int kMaxRegisters = 33;  // of any machine

struct Registers {
  std::array<uint64_t, kMaxRegisters> value = {};
};

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_REGISTERS_H_

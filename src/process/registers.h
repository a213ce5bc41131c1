// The general registers of a thread in user mode, numbered as DWARF numbers them for x86-64.
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

struct Registers {
  std::array<uint64_t, kRegisterCount> value = {};

  uint64_t pc() const { return value[kRip]; }
  uint64_t sp() const { return value[kRsp]; }
  uint64_t fp() const { return value[kRbp]; }
};

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_REGISTERS_H_

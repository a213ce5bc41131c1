// Applies a row to a frame of AArch64, whose return address may still be in x30 and may be signed. No state; safe from
// any thread. Nothing else uses it yet: stacks are captured on x86-64 only.
#ifndef OFFCPU_UNWIND_AARCH64_H_
#define OFFCPU_UNWIND_AARCH64_H_

#include <cstdint>
#include <optional>

#include "unwind/row.h"
#include "unwind/stack_copy.h"
#include "unwind/user_stack.h"

namespace offcpu {

// DWARF numbers.
inline constexpr uint8_t kAArch64Fp = 29;
inline constexpr uint8_t kAArch64Lr = 30;
inline constexpr uint8_t kAArch64Sp = 31;

// A signal trampoline, by the ABI: a siginfo of 128 bytes is at sp and the struct ucontext behind it.
inline constexpr Row kAArch64ContextRow = {
    .cfa = {.offset = 560, .addend = 0, .reg = kAArch64Sp, .deref = true},
    .ra = {.offset = 568, .place = Place::kAtRegister, .reg = kAArch64Sp},
    .fp = {.offset = 544, .place = Place::kAtRegister, .reg = kAArch64Sp},
    .signal = true,
};

struct AArch64State {
  uint64_t pc = 0;
  uint64_t sp = 0;
  uint64_t fp = 0;
  uint64_t lr = 0;
  bool fp_known = true;
  bool lr_known = true;  // set iff x30 is: in the leaf, and directly after a signal frame
  bool exact = true;     // pc is an instruction that was interrupted, not a return address
  uint8_t va_bits = 48;  // of user addresses, 1 to 63; a signature is above them
};

// Goes from `state` to its caller. Otherwise says why not, and `state` is unspecified; kComplete: there is no caller.
//
// sp rises with every step but one to a caller whose address is in x30, after which x30 is not known.
std::optional<EndReason> ApplyAArch64(const Row& row, const StackCopy& copy, AArch64State* state);

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_AARCH64_H_

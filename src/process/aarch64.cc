#include <elf.h>

#include "process/machine.h"

namespace offcpu {
namespace {

// The kernel puts a siginfo of 128 bytes at the sp of the trampoline and struct ucontext behind it, whose registers are
// at 184: x0 to x30, sp, pc, pstate. No flags, no link, and the low bits of pstate are those of 64-bit user mode.
constexpr int32_t kArmFlags = 128, kArmLink = 136, kX0At = 312, kPstate = 576;
// Behind that, at the next multiple of 16, is a list that begins with the vector registers: a magic number and a size.
constexpr int32_t kList = 592;
constexpr ContextWord kArmLike[] = {
    {.offset = kArmFlags, .value = 0}, {.offset = kArmLink, .value = 0}, {.offset = kPstate, .mask = 0x1f, .value = 0}};
constexpr ContextWord kArmSure[] = {
    kArmLike[0], kArmLike[1], kArmLike[2], {.offset = kList, .value = 0x0000'0210'4650'8001}};

constexpr std::array<uint16_t, kMaxRegisters> Context() {
  std::array<uint16_t, kMaxRegisters> context = {};
  for (int reg = kX0; reg <= kAArch64Pc; ++reg) context[reg] = static_cast<uint16_t>(kX0At + 8 * reg);
  return context;
}

}  // namespace

constinit const Machine kAArch64 = {
    .elf_machine = EM_AARCH64,
    .sframe_abi = 2,
    .pc = kAArch64Pc,
    .sp = kAArch64Sp,
    .fp = kX29,
    .extra = kX19,  // some compilers find locals by it where the stack pointer is realigned
    .ra = kX30,
    .call_pushes = false,
    .result = kX0,
    .arguments = {kX0, kX1, kX2},
    .lost_in_syscall = 1u << kX0,  // the result
    .address_bits = 48,
    .plt_block_bytes = 0,
    .context = Context(),
    .context_like = kArmLike,
    .context_sure = kArmSure,
    .context_align = 16,
};

}  // namespace offcpu

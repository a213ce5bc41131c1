#include <elf.h>

#include "process/machine.h"

namespace offcpu {
namespace {

// A handler that asks for a siginfo has a frame of which the trampoline sees: the number of the signal, two pointers, a
// siginfo of 128 bytes, and struct ucontext with its uc_mcontext at 20. That of other handlers has the number and the
// registers only; as the vDSO's table says where they are, nothing here knows it.
constexpr uint16_t kMcontext = 12 + 128 + 20;

}  // namespace

// The vDSO's table alone recognizes signal frames, so no word of them has to be compared: no libc of today brings a
// trampoline of its own along.
constinit const Machine kI386 = {
    .elf_machine = EM_386,
    .sframe_abi = 0,
    .word_bytes = 4,
    .pc = kEip,
    .sp = kEsp,
    .fp = kEbp,
    .extra = kEbx,
    .ra = kEip,
    .call_pushes = true,
    .result = kEax,
    .arguments = {kEbx, kEcx, kEdx},
    .syscall_bytes = 2,  // int $0x80, which clone uses; others call into the vDSO
    // The vDSO keeps ecx and edx on the stack during a call, and the kernel uses eax for the result.
    .lost_in_syscall = 1u << kEax | 1u << kEcx | 1u << kEdx,
    .address_bits = 32,
    .plt_block_bytes = 16,
    // eax, ecx, edx, ebx, esp, ebp, esi, edi, eip
    .context = {kMcontext + 44, kMcontext + 40, kMcontext + 36, kMcontext + 32, kMcontext + 28, kMcontext + 24,
                kMcontext + 20, kMcontext + 16, kMcontext + 56},
    .context_like = {},
    .context_sure = {},
    .context_align = 4,
};

}  // namespace offcpu

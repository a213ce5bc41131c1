#include <elf.h>

#include "process/machine.h"

namespace offcpu {
namespace {

// The kernel puts struct ucontext at the sp of the trampoline, with its uc_mcontext at 40. Few flags, no link, and
// behind the registers the segments: cs, gs, fs, ss, 16 bits each. gs and fs are not saved, and the low bits of cs are
// those of user mode.
constexpr int32_t kFlags = 0, kLink = 8, kSegments = 184, kFpstate = 224;
constexpr ContextWord kLike[] = {
    {.offset = kFlags, .mask = ~uint64_t{0xff}, .value = 0},  // there are three
    {.offset = kLink, .value = 0},
    {.offset = kSegments, .mask = 0x0000'ffff'ffff'0003, .value = 3},
};
// ss is saved, and restored as it is; there is a flag more where the processor has xstate. The state of the floating
// point unit lies behind a context of 304 bytes and a siginfo of 128, at the next multiple of 64.
constexpr ContextWord kSure[] = {
    {.offset = kFlags, .mask = ~uint64_t{1}, .value = 6},
    {.offset = kLink, .value = 0},
    {.offset = kSegments, .value = 0x002b'0000'0000'0033},
    {.offset = kFpstate, .value = 448, .from_sp = true},
};

}  // namespace

constinit const Machine kX86_64 = {
    .elf_machine = EM_X86_64,
    .sframe_abi = 3,
    .pc = kRip,
    .sp = kRsp,
    .fp = kRbp,
    .extra = kRbx,  // the dynamic linker finds its frame by it while it binds a function
    .ra = kRip,
    .call_pushes = true,
    .result = kRax,
    .arguments = {kRdi, kRsi, kRdx},
    .syscall_bytes = 2,
    // The instruction keeps rip in rcx and rflags in r11, and the kernel uses rax for the result.
    .lost_in_syscall = 1u << kRax | 1u << kRcx | 1u << kR11,
    .address_bits = 56,  // five-level paging
    .red_zone_bytes = 128,
    .plt_block_bytes = 16,
    // rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, rip
    .context = {144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88, 96, 168},
    .context_like = kLike,
    .context_sure = kSure,
    .context_align = 64,
    .also = &kI386,
};

}  // namespace offcpu

// A thread that runs in a function that calls nobody and keeps below its stack pointer what it has to: where its frame
// ends, and the caller's frame pointer, which it uses for something else. OpenSSL's assembler code does so.
// Usage: red_zone [--seconds S]
#include <alloca.h>

#include "target.h"

// CFA = *(rsp - 16), rbp at CFA - 136.
extern "C" void red_zone_leaf(uint64_t rounds);
asm(R"(
        .text
        .globl  red_zone_leaf
        .type   red_zone_leaf, @function
red_zone_leaf:
        .cfi_startproc
        lea     8(%rsp), %rax
        mov     %rax, -16(%rsp)
        mov     %rbp, -128(%rsp)
        .cfi_escape 0x0f, 3, 0x77, 0x70, 0x06
        .cfi_offset 6, -136
        mov     %rdi, %rbp
1:      dec     %rbp
        jnz     1b
        mov     -128(%rsp), %rbp
        .cfi_same_value 6
        ret
        .cfi_endproc
        .size   red_zone_leaf, .-red_zone_leaf
)");

// Its frame is found by the frame pointer.
TARGET_FUNCTION void outer(size_t bytes) {
  auto* space = static_cast<volatile char*>(alloca(bytes));
  space[0] = 1;
  red_zone_leaf(1'000'000);
  space[0] = space[0] + 1;
}

int main(int argc, char** argv) {
  target::ReadyAndRun("", target::Option(argc, argv, "--seconds", 2));
  for (size_t bytes = 16; !target::Over(); bytes = bytes % 4096 + 16) outer(bytes);
  target::DoneAndStay();
}

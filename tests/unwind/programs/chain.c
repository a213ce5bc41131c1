// Calls a chain of functions, the innermost of which prints the return addresses that each of them found, innermost
// first, and then blocks. The argument chooses what lies in the chain.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef WITH_LIBRARY
void through_library(void (*callback)(void));
#endif

static void* found[64];
static int count;

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif
#define RECORD() (found[count++] = __builtin_return_address(0))
// Behind a call: keeps it from becoming a jump.
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

static NOINLINE void block(void) {
  RECORD();
  while (count > 0) printf("%lx ", (unsigned long)(uintptr_t)found[--count]);
  printf("\n");
  fflush(stdout);
  for (;;) pause();
}

static NOINLINE void plain(void) {
  RECORD();
  block();
  NO_TAIL_CALL();
}

static NOINLINE void large(void) {
  char buffer[16384];
  RECORD();
  __asm__ volatile("" ::"r"(buffer) : "memory");
  block();
  NO_TAIL_CALL();
}

// Its stack pointer is aligned anew, so that its frame is found through another register.
static NOINLINE void realigned(int size) {
  char buffer[256] __attribute__((aligned(128)));
  char* variable = __builtin_alloca((size_t)size);
  RECORD();
  __asm__ volatile("" ::"r"(buffer), "r"(variable) : "memory");
  plain();
  NO_TAIL_CALL();
}

static NOINLINE __attribute__((noreturn)) void never_returns(void) {
  RECORD();
  plain();
  abort();
}

static NOINLINE void handler(int number) {
  (void)number;
  plain();
  NO_TAIL_CALL();
}

static NOINLINE void interrupted(int flags) {
  struct sigaction action;
  RECORD();
  memset(&action, 0, sizeof(action));
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(SIGUSR1, &action, NULL);
  // Not raise(): its return address into here is not recorded, the interrupted instruction is in libc.
  kill(getpid(), SIGUSR1);
  NO_TAIL_CALL();
}

static NOINLINE void on_other_stack(void) {
  stack_t stack;
  RECORD();
  memset(&stack, 0, sizeof(stack));
  stack.ss_size = 65536;
  stack.ss_sp = malloc(stack.ss_size);
  sigaltstack(&stack, NULL);
  interrupted(SA_ONSTACK);
  NO_TAIL_CALL();
}

static NOINLINE void jit(void) {
  // push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret
  static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
  void* memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  RECORD();
  memcpy(memory, code, sizeof(code));
  ((void (*)(void (*)(void)))(uintptr_t)memory)(plain);
  NO_TAIL_CALL();
}

static NOINLINE void coroutine(void) {
  RECORD();
  plain();
  NO_TAIL_CALL();
}

enum { kCoroutineStack = 256 << 10 };

static NOINLINE void by_ucontext(void) {
  static ucontext_t here, there;
  RECORD();
  getcontext(&there);
  there.uc_stack.ss_sp = mmap(NULL, kCoroutineStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  there.uc_stack.ss_size = kCoroutineStack;
  there.uc_link = &here;
  makecontext(&there, coroutine, 0);
  swapcontext(&here, &there);
}

// As a library does that brings its own switch: nothing tells where the stack came from. The caller's frame is found
// by its frame pointer, on the stack that was left.
static NOINLINE void by_own_switch(int size) {
  char* variable = __builtin_alloca((size_t)size);
  char* stack = mmap(NULL, kCoroutineStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  RECORD();
  __asm__ volatile("mov %%rsp, %%rbx; mov %0, %%rsp; call *%1; mov %%rbx, %%rsp"
                   :
                   : "r"(stack + kCoroutineStack), "r"(coroutine), "r"(variable)
                   : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}

// Where this program is built with -fsplit-stack, each call is on a piece of stack of its own.
static NOINLINE void split(int depth) {
  char buffer[16384];
  __asm__ volatile("" ::"r"(buffer) : "memory");
  if (depth == 0) {
    RECORD();
    plain();
  } else {
    split(depth - 1);
  }
  NO_TAIL_CALL();
}

static NOINLINE void choose(const char* what) {
  RECORD();
  if (strcmp(what, "plain") == 0) plain();
  if (strcmp(what, "large") == 0) large();
  if (strcmp(what, "realigned") == 0) realigned(count * 100);
  if (strcmp(what, "noreturn") == 0) never_returns();
  if (strcmp(what, "signal") == 0) interrupted(0);
  if (strcmp(what, "altstack") == 0) on_other_stack();
  if (strcmp(what, "jit") == 0) jit();
  if (strcmp(what, "ucontext") == 0) by_ucontext();
  if (strcmp(what, "switch") == 0) by_own_switch(count * 100);
  if (strcmp(what, "split") == 0) split(20);
#ifdef WITH_LIBRARY
  if (strcmp(what, "library") == 0) through_library(plain);
#endif
  NO_TAIL_CALL();
}

int main(int argc, char** argv) {
  choose(argc > 1 ? argv[1] : "plain");
  return 0;
}

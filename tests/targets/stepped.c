// Goes once through what makes stacks hard to walk, in as few instructions as may be, to be run one by one: it has no
// loops that are there for the time they take. Without a library of its own, so that it can be linked in every way.
// STEPPED_DLOPEN: loads a library, too. "short": without what only runs the C library's code.
#include <regex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef STEPPED_DLOPEN
#include <dlfcn.h>
#endif

#ifdef __clang__
#define FUNCTION __attribute__((noinline))
#else
#define FUNCTION __attribute__((noipa))
#endif
// Behind a call: keeps it from becoming a jump.
#define AFTER_CALL __asm__ volatile("" ::: "memory")

static volatile int sink;

FUNCTION static int leaf(int a) { return a * 3 + 1; }

FUNCTION static int recursive(int depth) {
  const int below = depth == 0 ? leaf(depth) : recursive(depth - 1);
  AFTER_CALL;
  return below + depth;
}

// Saves every register that a function preserves.
FUNCTION static long many_registers(long a, long b, long c, long d, long e, long f, long g, long h) {
  const long x = leaf((int)a), y = leaf((int)b), z = leaf((int)c);
  return a * b + c * d + e * f + g * h + x * y * z + leaf((int)(a + b + c + d + e + f + g + h));
}

FUNCTION static int tail(int a) { return leaf(a + 1); }
FUNCTION static int tail_through(int (*function)(int), int a) { return function(a); }

__attribute__((cold)) FUNCTION static int unlikely(int a) {
  char text[64];
  snprintf(text, sizeof(text), "%d", a);
  return text[0];
}

FUNCTION static int with_a_cold_part(int a) {
  if (__builtin_expect(a > 5, 0)) return unlikely(a) + leaf(a);
  return leaf(a);
}

FUNCTION static void large_frame(void) {
  char buffer[12000];
  __asm__ volatile("" : : "r"(buffer) : "memory");
  sink = leaf(1);
}

// Its frame is aligned anew and of a size that is not known before: it is found through another register.
FUNCTION static void realigned(int size) {
  char buffer[256] __attribute__((aligned(128)));
  char* variable = __builtin_alloca((size_t)size);
  __asm__ volatile("" : : "r"(buffer), "r"(variable) : "memory");
  sink = recursive(2);
}

FUNCTION static void realigned_only(void) {
  char buffer[64] __attribute__((aligned(64)));
  __asm__ volatile("" : : "r"(buffer) : "memory");
  sink = recursive(1);
}

typedef double wide __attribute__((vector_size(32)));
__attribute__((target("avx"))) FUNCTION static void wide_locals(const double* from) {
  volatile wide a = {from[0], from[1], from[2], from[3]};
  volatile wide b = a + a;
  sink = leaf((int)b[2]);
  a = b * b;
  sink = recursive((int)a[0] & 1);
}

FUNCTION static int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

FUNCTION static void callbacks(void) {
  int numbers[] = {5, 3, 9, 1, 7, 2, 8};
  const int key = 7;
  qsort(numbers, 7, sizeof(int), compare);
  sink = bsearch(&key, numbers, 7, sizeof(int), compare) != NULL;
}

static jmp_buf* back;  // on the stack, as most are
static sigjmp_buf back_from_handler;

// Its last instruction is a call.
FUNCTION static __attribute__((noreturn)) void never_returns(void) {
  sink = leaf(3);
  longjmp(*back, 1);
}

FUNCTION static void jumps(void) {
  jmp_buf here;
  back = &here;
  if (setjmp(here) == 0) {
    sink = recursive(1);
    never_returns();
  }
  sink = leaf(4);
}

FUNCTION static void handler(int number) { sink = leaf(number); }
FUNCTION static void leaving_handler(int number) { siglongjmp(back_from_handler, number); }

FUNCTION static void raise_with(void (*function)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof(action));
  action.sa_handler = function;
  action.sa_flags = flags;
  sigaction(SIGUSR1, &action, NULL);
  kill(getpid(), SIGUSR1);
  AFTER_CALL;
}

FUNCTION static void raise_on(char* base, size_t size) {
  stack_t stack;
  memset(&stack, 0, sizeof(stack));
  stack.ss_sp = base;
  stack.ss_size = size;
  sigaltstack(&stack, NULL);
  raise_with(handler, SA_ONSTACK);
  AFTER_CALL;
}

enum { kSignalStack = 16384 };

// Handlers on the same stack, one that is left by a jump, and handlers on other stacks: far away, above the interrupted
// function's frame, and below it at a distance that a captured piece of the stack spans.
FUNCTION static void signals(void) {
  static char far_away[kSignalStack];
  char above[kSignalStack];
  raise_with(handler, 0);
  if (sigsetjmp(back_from_handler, 1) == 0) raise_with(leaving_handler, 0);
  raise_on(far_away, sizeof(far_away));
  raise_on(above, sizeof(above));
  raise_on((char*)((uintptr_t)__builtin_frame_address(0) - sizeof(above) - 3 * kSignalStack / 2), kSignalStack);
  AFTER_CALL;
}

FUNCTION static void child(void) {
  int status = 0;
  const pid_t pid = vfork();
  if (pid == 0) _exit(3);
  waitpid(pid, &status, 0);
  sink = status;
}

FUNCTION static void times(void) {
  struct timespec now;
  struct timeval also;
  clock_gettime(CLOCK_MONOTONIC, &now);
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  gettimeofday(&also, NULL);
  sink = (int)time(NULL);
}

// The assembler code of the C library, for sizes that take different ways through it.
FUNCTION static void memory(void) {
  static const size_t sizes[] = {0, 1, 3, 7, 15, 20, 33, 70, 140, 300, 700, 1500};
  char from[2048];
  char to[2048];
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
    memset(from, 'a', sizeof(from));
    from[sizes[i]] = 0;
    memcpy(to, from, sizes[i] + 1);
    memmove(to + 1, to, sizes[i]);
    sink += (int)strlen(from) + memcmp(from, to, sizes[i]) + strcmp(from, to) + (strchr(from, 'b') != NULL);
    sink += memchr(from, 0, sizeof(from)) != NULL;
  }
}

FUNCTION static void text(void) {
  char line[128];
  snprintf(line, sizeof(line), "%s %d %.3f %p", "words", 42, 2.5, (void*)(uintptr_t)4096);
  sink = (int)strtol(line + 6, NULL, 10) + (int)strtod("3.25e2", NULL) + (getenv("NOT_THERE") != NULL);
  char* copy = strdup(line);
  free(copy);
  free(realloc(malloc(100), 100000));
}

// Much of what a compiler makes, and deep: most instructions are here.
FUNCTION static void patterns(void) {
  regex_t pattern;
  if (regcomp(&pattern, "^(ab|c(d|e)+)*[0-9]x?$", REG_EXTENDED) != 0) return;
  sink = regexec(&pattern, "abcde7x", 0, NULL, 0);
  regfree(&pattern);
}

FUNCTION static void at_exit(void) { sink = leaf(5); }

int main(int argc, char** argv) {
  static const double numbers[] = {1, 2, 3, 4};
  atexit(at_exit);
  sink = recursive(4);
  sink = (int)many_registers(1, 2, 3, 4, 5, 6, 7, 8);
  sink = tail(1) + tail_through(tail, 2) + with_a_cold_part(1) + with_a_cold_part(7);
  large_frame();
  realigned(sink & 63);
  realigned_only();
  if (__builtin_cpu_supports("avx")) wide_locals(numbers);
  callbacks();
  jumps();
  signals();
  child();
  if (argc > 1 && strcmp(argv[1], "short") == 0) return 0;
  times();
  memory();
  text();
  patterns();
#ifdef STEPPED_DLOPEN
  void* library = dlopen(STEPPED_DLOPEN, RTLD_LAZY);
  if (library == NULL) return 1;
  double (*cosine)(double) = (double (*)(double))(uintptr_t)dlsym(library, "cos");
  if (cosine == NULL) return 1;
  sink = (int)cosine(0.5);
  dlclose(library);
#endif
  return 0;
}

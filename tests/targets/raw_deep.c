// Sixty functions below each other, the innermost sleeping: once below the first instruction of the program, once below
// that of a thread. Without a C library and without anything of the compiler's, so that every frame is one of this file
// and described only as it was built: see CMakeLists.txt. Talks as target.h says.
// RAW_TABLES: the sections that describe it, as the assembler's .cfi_sections names them.
// RAW_PART: 1 leaves out the functions of even numbers, 2 all others; two such objects make one program.
// RAW_SIGNAL: the main thread's sixty functions run in a signal handler, whose trampoline is directly behind a function
// that ends in a call.
// Usage: raw_deep [SLEEPS]
#include <stdint.h>

#ifndef RAW_PART
#define RAW_PART 0
#endif

#define TO_TEXT(x) #x
#define TEXT_OF(x) TO_TEXT(x)
__asm__(".cfi_sections " RAW_TABLES "\n");

#define RAW_FUNCTION __attribute__((noipa, used))

long raw_nanosleep(long ns);
void raw_sleep(void);

// Frames of several sizes; the buffer is written, so that it is really there.
#define DEFINE(n, callee)                   \
  void callee(void);                        \
  RAW_FUNCTION void raw_##n(void) {         \
    volatile char pad[16 * (1##n % 7 + 1)]; \
    pad[0] = (char)(1##n);                  \
    callee();                               \
    pad[1] = pad[0];                        \
  }
// Its stack pointer is aligned anew: the way to its caller is no longer at a fixed distance.
#define REALIGNED(n, callee)                                 \
  void callee(void);                                         \
  RAW_FUNCTION void raw_##n(void) {                          \
    volatile char pad[64] __attribute__((aligned(64)));      \
    pad[0] = (char)(1##n);                                   \
    __asm__ volatile("" : : "r"((uintptr_t)pad) : "memory"); \
    callee();                                                \
    pad[1] = pad[0];                                         \
  }
#define DECLARE(n, callee) void raw_##n(void);
#if RAW_PART == 1
#define EVEN DECLARE
#else
#define EVEN DEFINE
#endif
#if RAW_PART == 2
#define ODD DECLARE
#define ODD_REALIGNED DECLARE
#else
#define ODD DEFINE
#define ODD_REALIGNED REALIGNED
#endif

// clang-format off
EVEN(60, raw_sleep)
ODD(59, raw_60) EVEN(58, raw_59) ODD(57, raw_58) EVEN(56, raw_57) ODD(55, raw_56) EVEN(54, raw_55) ODD(53, raw_54)
EVEN(52, raw_53) ODD(51, raw_52) EVEN(50, raw_51) ODD(49, raw_50) EVEN(48, raw_49) ODD(47, raw_48) EVEN(46, raw_47)
ODD(45, raw_46) EVEN(44, raw_45) ODD(43, raw_44) EVEN(42, raw_43) ODD(41, raw_42) EVEN(40, raw_41) ODD(39, raw_40)
EVEN(38, raw_39) ODD(37, raw_38) EVEN(36, raw_37) ODD(35, raw_36) EVEN(34, raw_35) ODD(33, raw_34) EVEN(32, raw_33)
ODD_REALIGNED(31, raw_32) EVEN(30, raw_31) ODD(29, raw_30) EVEN(28, raw_29) ODD(27, raw_28) EVEN(26, raw_27)
ODD(25, raw_26) EVEN(24, raw_25) ODD(23, raw_24) EVEN(22, raw_23) ODD(21, raw_22) EVEN(20, raw_21) ODD(19, raw_20)
EVEN(18, raw_19) ODD(17, raw_18) EVEN(16, raw_17) ODD(15, raw_16) EVEN(14, raw_15) ODD(13, raw_14) EVEN(12, raw_13)
ODD(11, raw_12) EVEN(10, raw_11) ODD(09, raw_10) EVEN(08, raw_09) ODD(07, raw_08) EVEN(06, raw_07) ODD(05, raw_06)
EVEN(04, raw_05) ODD(03, raw_04) EVEN(02, raw_03) ODD(01, raw_02)
// clang-format on

#if RAW_PART != 2

                                            enum {
                                              kRead = 0,
                                              kWrite = 1,
                                              kSigaction = 13,
                                              kNanosleep = 35,
                                              kGetpid = 39,
                                              kExit = 60,
                                              kPrctl = 157,
                                              kFutex = 202,
                                              kExitGroup = 231,
                                              kTgkill = 234,
                                            };
// CLONE_VM, _FS, _FILES, _SIGHAND, _THREAD, _CHILD_SETTID and _CHILD_CLEARTID
#define RAW_CLONE_FLAGS 0x01210f00

// The program and the thread begin without a caller: a frame pointer of 0, no return address.
__asm__(
    ".text\n"
    ".globl _start\n"
    ".type _start, @function\n"
    "_start:\n"
    "  .cfi_startproc\n"
    "  .cfi_undefined rip\n"
    "  xor %ebp, %ebp\n"
    "  mov %rsp, %rdi\n"
    "  and $-16, %rsp\n"
    "  call raw_main\n"
    "  hlt\n"
    "  .cfi_endproc\n"
    ".size _start, . - _start\n"
    // raw_clone(stack, tid): returns in the parent only
    ".type raw_clone, @function\n"
    "raw_clone:\n"
    "  .cfi_startproc\n"
    "  mov %rsi, %r10\n"
    "  mov %rdi, %rsi\n"
    "  mov $" TEXT_OF(RAW_CLONE_FLAGS) ", %edi\n"
    "  mov $56, %eax\n"
    "  syscall\n"
    "  test %eax, %eax\n"
    "  jz raw_thread_start\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size raw_clone, . - raw_clone\n"
    ".type raw_thread_start, @function\n"
    "raw_thread_start:\n"
    "  .cfi_startproc\n"
    "  .cfi_undefined rip\n"
    "  xor %ebp, %ebp\n"
    "  call raw_thread\n"
    "  hlt\n"
    "  .cfi_endproc\n"
    ".size raw_thread_start, . - raw_thread_start\n");

long raw_clone(void* stack, int* tid);

static inline long SystemCall(long number, long a, long b, long c, long d) {
  register long r10 __asm__("r10") = d;
  __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return number;
}

static long sleeps = 500;
static _Alignas(16) char thread_stack[64 << 10];
static volatile int thread_tid = 1;  // 0 once it has ended

static char line[64];
static int length;

static void Put(const char* text) {
  while (*text != 0) line[length++] = *text++;
}

static void PutNumber(long value) {
  char digits[20];
  int count = 0;
  do {
    digits[count++] = (char)('0' + value % 10);
  } while ((value /= 10) > 0);
  while (count > 0) line[length++] = digits[--count];
}

static void Say(void) {
  SystemCall(kWrite, 1, (long)line, length, 0);
  length = 0;
}

RAW_FUNCTION long raw_read(void) {
  char byte;
  return SystemCall(kRead, 0, (long)&byte, 1, 0);
}

RAW_FUNCTION long raw_nanosleep(long ns) {
  const long time[2] = {0, ns};
  return SystemCall(kNanosleep, (long)time, 0, 0, 0);
}

RAW_FUNCTION void raw_sleep(void) {
  for (long i = 0; i < sleeps; ++i) raw_nanosleep(1000000);
}

#ifdef RAW_SIGNAL

#define RAW_MAIN_CALLS raw_raise

// By DWARF: the CFA is *(rsp + 160), rbp is at rsp + 120, the pc at rsp + 168.
__asm__(
    ".text\n"
    ".type raw_in_front, @function\n"
    "raw_in_front:\n"
    "  .cfi_startproc\n"
    "  sub $40, %rsp\n"
    "  .cfi_adjust_cfa_offset 40\n"
    "  call raw_in_front\n"
    "  .cfi_endproc\n"
    ".size raw_in_front, . - raw_in_front\n"
    ".type raw_restorer, @function\n"
    "raw_restorer:\n"
    "  .cfi_startproc\n"
    "  .cfi_signal_frame\n"
    "  .cfi_escape 0x0f, 4, 0x77, 0xa0, 0x01, 0x06\n"
    "  .cfi_escape 0x10, 6, 3, 0x77, 0xf8, 0x00\n"
    "  .cfi_escape 0x10, 16, 3, 0x77, 0xa8, 0x01\n"
    "  mov $15, %eax\n"
    "  syscall\n"
    "  .cfi_endproc\n"
    ".size raw_restorer, . - raw_restorer\n");

void raw_restorer(void);

RAW_FUNCTION void raw_handler(int number) {
  raw_01();
  __asm__ volatile("" : : "r"(number));
}

RAW_FUNCTION void raw_raise(void) {
  const int kSignal = 10;
  const long kSaRestorer = 0x04000000;
  const long action[4] = {(long)raw_handler, kSaRestorer, (long)raw_restorer, 0};
  const long pid = SystemCall(kGetpid, 0, 0, 0, 0);
  SystemCall(kSigaction, kSignal, (long)action, 0, 8);
  SystemCall(kTgkill, pid, pid, kSignal, 0);
}

#else
#define RAW_MAIN_CALLS raw_01
#endif

RAW_FUNCTION void raw_wait_for_thread(void) {
  const int kFutexWait = 0;
  for (int tid; (tid = thread_tid) != 0;) SystemCall(kFutex, (long)&thread_tid, kFutexWait, tid, 0);
}

RAW_FUNCTION void raw_thread(void) {
  const int kSetName = 15;
  SystemCall(kPrctl, kSetName, (long)"raw_thread", 0, 0);
  raw_01();
  SystemCall(kExit, 0, 0, 0, 0);
  __builtin_unreachable();
}

// `stack`: as the kernel leaves it, argc and then the pointers of argv.
RAW_FUNCTION void raw_main(const long* stack) {
  if (stack[0] > 1) {
    sleeps = 0;
    for (const char* digit = (const char*)stack[2]; *digit != 0; ++digit) sleeps = sleeps * 10 + *digit - '0';
  }
  Put("ready pid=");
  PutNumber(SystemCall(kGetpid, 0, 0, 0, 0));
  Put("\n");
  Say();
  raw_read();
  raw_clone(thread_stack + sizeof(thread_stack), (int*)&thread_tid);
  RAW_MAIN_CALLS();
  raw_wait_for_thread();
  Put("value sleeps ");
  PutNumber(sleeps);
  Put("\ndone\n");
  Say();
  while (raw_read() > 0) {
  }
  SystemCall(kExitGroup, 0, 0, 0, 0);
  __builtin_unreachable();
}

#endif

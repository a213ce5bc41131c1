// Sixty functions below each other, the innermost sleeping: once below main, once below a thread's start. With --big
// forty functions with a used buffer of 1 KiB each. Prints the callers as libgcc's unwinder sees them, one line
// `chain THREAD MODULE OFFSET` a return address, from the caller of deep_sleep outwards.
// Usage: deep [--big] [--seconds S]
#include <dlfcn.h>
#include <execinfo.h>

#include "target.h"

struct Work {
  const char* thread;
  target::Sum sum;
};

namespace {

double seconds;
target::Gate gate;
pthread_barrier_t chains_printed;

}  // namespace

TARGET_FUNCTION void print_chain(const char* thread) {
  void* frames[128];
  const int count = backtrace(frames, 128);
  for (int i = 2; i < count; ++i) {  // beyond print_chain and deep_sleep
    Dl_info info = {};
    target::Check(dladdr(frames[i], &info) != 0, "dladdr");
    const char* slash = strrchr(info.dli_fname, '/');
    target::Say("chain %s %s %#lx\n", thread, slash != nullptr ? slash + 1 : info.dli_fname,
                static_cast<unsigned long>(static_cast<char*>(frames[i]) - static_cast<char*>(info.dli_fbase)));
  }
}

TARGET_FUNCTION void deep_sleep(Work* work) {
  print_chain(work->thread);
  pthread_barrier_wait(&chains_printed);
  if (strcmp(work->thread, "main") == 0) {
    target::ReadyAndRun("", seconds);
    gate.Open();
  } else {
    gate.Pass();
  }
  while (!target::Over()) {
    const target::OffCpuTimer timer(work->sum);
    target::SleepNs(1'000'000);
  }
}

// Frames of several sizes; the buffer is written, so that it is really there.
#define DEEP(n, callee)                       \
  TARGET_FUNCTION void deep_##n(Work* work) { \
    volatile char pad[16 * (1##n % 7 + 1)];   \
    pad[0] = static_cast<char>(1##n);         \
    callee(work);                             \
    pad[1] = pad[0];                          \
  }
#define BIG(n, callee)                                                              \
  TARGET_FUNCTION void big_##n(Work* work) {                                        \
    volatile char buffer[1024];                                                     \
    for (unsigned i = 0; i < sizeof(buffer); ++i) buffer[i] = static_cast<char>(i); \
    callee(work);                                                                   \
    buffer[1] = buffer[0];                                                          \
  }

// clang-format off
DEEP(60, deep_sleep)
DEEP(59, deep_60) DEEP(58, deep_59) DEEP(57, deep_58) DEEP(56, deep_57) DEEP(55, deep_56) DEEP(54, deep_55)
DEEP(53, deep_54) DEEP(52, deep_53) DEEP(51, deep_52) DEEP(50, deep_51) DEEP(49, deep_50) DEEP(48, deep_49)
DEEP(47, deep_48) DEEP(46, deep_47) DEEP(45, deep_46) DEEP(44, deep_45) DEEP(43, deep_44) DEEP(42, deep_43)
DEEP(41, deep_42) DEEP(40, deep_41) DEEP(39, deep_40) DEEP(38, deep_39) DEEP(37, deep_38) DEEP(36, deep_37)
DEEP(35, deep_36) DEEP(34, deep_35) DEEP(33, deep_34) DEEP(32, deep_33) DEEP(31, deep_32) DEEP(30, deep_31)
DEEP(29, deep_30) DEEP(28, deep_29) DEEP(27, deep_28) DEEP(26, deep_27) DEEP(25, deep_26) DEEP(24, deep_25)
DEEP(23, deep_24) DEEP(22, deep_23) DEEP(21, deep_22) DEEP(20, deep_21) DEEP(19, deep_20) DEEP(18, deep_19)
DEEP(17, deep_18) DEEP(16, deep_17) DEEP(15, deep_16) DEEP(14, deep_15) DEEP(13, deep_14) DEEP(12, deep_13)
DEEP(11, deep_12) DEEP(10, deep_11) DEEP(09, deep_10) DEEP(08, deep_09) DEEP(07, deep_08) DEEP(06, deep_07)
DEEP(05, deep_06) DEEP(04, deep_05) DEEP(03, deep_04) DEEP(02, deep_03) DEEP(01, deep_02)

BIG(40, deep_sleep)
BIG(39, big_40) BIG(38, big_39) BIG(37, big_38) BIG(36, big_37) BIG(35, big_36) BIG(34, big_35) BIG(33, big_34)
BIG(32, big_33) BIG(31, big_32) BIG(30, big_31) BIG(29, big_30) BIG(28, big_29) BIG(27, big_28) BIG(26, big_27)
BIG(25, big_26) BIG(24, big_25) BIG(23, big_24) BIG(22, big_23) BIG(21, big_22) BIG(20, big_21) BIG(19, big_20)
BIG(18, big_19) BIG(17, big_18) BIG(16, big_17) BIG(15, big_16) BIG(14, big_15) BIG(13, big_14) BIG(12, big_13)
BIG(11, big_12) BIG(10, big_11) BIG(09, big_10) BIG(08, big_09) BIG(07, big_08) BIG(06, big_07) BIG(05, big_06)
BIG(04, big_05) BIG(03, big_04) BIG(02, big_03) BIG(01, big_02)
    // clang-format on

    namespace {
  bool big;

  void* Run(void* work) {
    (big ? big_01 : deep_01)(static_cast<Work*>(work));
    TARGET_AFTER_CALL;
    return nullptr;
  }

}  // namespace

int main(int argc, char** argv) {
  big = target::Flag(argc, argv, "--big");
  seconds = target::Option(argc, argv, "--seconds", 2);
  pthread_barrier_init(&chains_printed, nullptr, 2);

  Work main_work = {"main", {}};
  Work thread_work = {"deep_thread", {}};
  pthread_t thread;
  target::Check(pthread_create(&thread, nullptr, Run, &thread_work) == 0, "pthread_create");
  pthread_setname_np(thread, thread_work.thread);
  Run(&main_work);
  pthread_join(thread, nullptr);

  target::Measured(main_work.thread, "deep_sleep", main_work.sum);
  target::Measured(thread_work.thread, "deep_sleep", thread_work.sum);
  target::DoneAndStay();
}

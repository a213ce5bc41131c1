// Two callers of one function that blocks below a buffer of 8 KiB: the registers and all of the stack up to the return
// address into the caller are the same for both. Only what lies above tells them apart. caller_a calls twice as often.
// Usage: two_callers [--rounds N]
#include "target.h"

namespace {

constexpr uint64_t kWaitNs = 300'000;
constexpr int kSavedRegisters = 7;

uint64_t saved[kSavedRegisters];
uint64_t first[kSavedRegisters];
uint64_t differing_layouts = 0;

// Kept in memory, so that no register of the driver tells the callers apart.
volatile int rounds_left = 0;
target::Sum sum_a;
target::Sum sum_b;

void CompareLayout() {
  if (first[0] == 0) memcpy(first, saved, sizeof(first));
  if (memcmp(first, saved, sizeof(first)) != 0) ++differing_layouts;
}

}  // namespace

TARGET_FUNCTION void shared_wait() {
  volatile char buffer[8 << 10];
  for (unsigned i = 0; i < sizeof(buffer); ++i) buffer[i] = 1;
  asm volatile(
      "mov %%rsp, 0(%0)\n mov %%rbx, 8(%0)\n mov %%rbp, 16(%0)\n mov %%r12, 24(%0)\n"
      "mov %%r13, 32(%0)\n mov %%r14, 40(%0)\n mov %%r15, 48(%0)"
      :
      : "a"(saved)
      : "memory");
  target::SleepNs(kWaitNs);
  buffer[0] = buffer[1];
}

TARGET_FUNCTION void caller_a() {
  shared_wait();
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void caller_b() {
  shared_wait();
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void timed_call(void (*caller)(), target::Sum* sum) {
  static uint64_t wall;
  static uint64_t cpu;
  wall = target::ClockNs(CLOCK_MONOTONIC);
  cpu = target::ClockNs(CLOCK_THREAD_CPUTIME_ID);
  asm volatile("xor %%ebx, %%ebx\n xor %%r12d, %%r12d\n xor %%r13d, %%r13d\n xor %%r14d, %%r14d\n xor %%r15d, %%r15d"
               :
               :
               : "rbx", "r12", "r13", "r14", "r15", "memory");
  caller();
  cpu = target::ClockNs(CLOCK_THREAD_CPUTIME_ID) - cpu;
  wall = target::ClockNs(CLOCK_MONOTONIC) - wall;
  *sum = {sum->ns + (wall > cpu ? wall - cpu : 0), sum->count + 1};
  CompareLayout();
}

int main(int argc, char** argv) {
  rounds_left = static_cast<int>(target::Option(argc, argv, "--rounds", 1000));
  target::ReadyAndRun("", 0);
  while (rounds_left > 0) {
    rounds_left = rounds_left - 1;
    timed_call(caller_a, &sum_a);
    timed_call(caller_a, &sum_a);
    timed_call(caller_b, &sum_b);
  }
  target::Measured("main", "caller_a", sum_a);
  target::Measured("main", "caller_b", sum_b);
  target::Value("differing_layouts", differing_layouts);
  target::DoneAndStay();
}

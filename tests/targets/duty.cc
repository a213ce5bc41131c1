// A thread that is on the CPU for a part of its time and sleeps for the rest, in turns of changing lengths that no
// sampling frequency keeps step with. Usage: duty [--seconds N]
#include "target.h"

namespace {

uint64_t random_state = 88172645463325252;
uint64_t work_ns = 0;  // of the thread's CPU time, below duty_work
uint64_t cycles = 0;

// From 1 to 1 + `range_ns`; xorshift.
uint64_t RandomNs(uint64_t range_ns) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return 1 + random_state % range_ns;
}

}  // namespace

TARGET_FUNCTION void duty_work(uint64_t ns) {
  const uint64_t end = target::ClockNs(CLOCK_THREAD_CPUTIME_ID) + ns;
  while (target::ClockNs(CLOCK_THREAD_CPUTIME_ID) < end) {
    for (int i = 0; i < 1000; ++i) asm volatile("");
  }
}

TARGET_FUNCTION void duty_rest(uint64_t ns) {
  target::SleepNs(ns);
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void duty_cycle() {
  while (!target::Over()) {
    const uint64_t begin = target::ClockNs(CLOCK_THREAD_CPUTIME_ID);
    duty_work(RandomNs(6'000'000));
    work_ns += target::ClockNs(CLOCK_THREAD_CPUTIME_ID) - begin;
    duty_rest(RandomNs(6'000'000));
    ++cycles;
  }
}

int main(int argc, char** argv) {
  pthread_setname_np(pthread_self(), "duty");
  target::ReadyAndRun("", target::Option(argc, argv, "--seconds", 5));
  const uint64_t wall = target::ClockNs(CLOCK_MONOTONIC);
  const uint64_t cpu = target::ClockNs(CLOCK_THREAD_CPUTIME_ID);
  duty_cycle();
  const uint64_t cpu_ns = target::ClockNs(CLOCK_THREAD_CPUTIME_ID) - cpu;
  const uint64_t wall_ns = target::ClockNs(CLOCK_MONOTONIC) - wall;
  target::SleepNs(200'000'000);  // if its control group has a quota, that is full again for what follows
  target::Value("wall_ns", wall_ns);
  target::Value("cpu_ns", cpu_ns);
  target::Value("work_ns", work_ns);
  target::Value("cycles", cycles);
  target::DoneAndStay();
}

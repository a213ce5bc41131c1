// Many threads that nap: how long it takes to make them, and how idle the host is while they nap.
// Usage: nappers [--threads N] [--nap-ms MS] [--seconds S]
// Gives up making them after ten seconds.
#include <limits.h>

#include "target.h"

namespace {

constexpr uint64_t kPatienceNs = 10'000'000'000;
constexpr size_t kStackBytes = 64 * 1024;

uint64_t nap_ns = 0;

void* Nap(void*) {
  while (true) target::SleepNs(nap_ns);
}

struct CpuTime {
  uint64_t idle = 0;
  uint64_t all = 0;
};

// The time of all CPUs, in ticks. What waits for a disk is idle; what the hypervisor took is not counted.
CpuTime ReadCpuTime() {
  FILE* file = fopen("/proc/stat", "re");
  target::Check(file != nullptr, "/proc/stat");
  unsigned long long ticks[7];  // user nice system idle iowait irq softirq
  target::Check(fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu", &ticks[0], &ticks[1], &ticks[2], &ticks[3],
                       &ticks[4], &ticks[5], &ticks[6]) == 7,
                "/proc/stat");
  fclose(file);
  CpuTime time;
  time.idle = ticks[3] + ticks[4];
  for (const unsigned long long t : ticks) time.all += t;
  return time;
}

}  // namespace

int main(int argc, char** argv) {
  const auto threads = static_cast<uint64_t>(target::Option(argc, argv, "--threads", 5000));
  nap_ns = static_cast<uint64_t>(target::Option(argc, argv, "--nap-ms", 500) * 1e6);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);

  target::ReadyAndRun("", 0);
  const uint64_t began_ns = target::ClockNs(CLOCK_MONOTONIC);
  uint64_t made = 0;
  while (made < threads && target::ClockNs(CLOCK_MONOTONIC) - began_ns < kPatienceNs) {
    pthread_t thread;
    target::Check(pthread_create(&thread, &attributes, Nap, nullptr) == 0, "pthread_create");
    ++made;
  }
  target::Value("made", made);
  target::Value("making_ns", target::ClockNs(CLOCK_MONOTONIC) - began_ns);

  const CpuTime before = ReadCpuTime();
  target::SleepNs(static_cast<uint64_t>(target::Option(argc, argv, "--seconds", 1) * 1e9));
  const CpuTime after = ReadCpuTime();
  target::Value("idle_permille", 1000 * (after.idle - before.idle) / (after.all - before.all));
  target::DoneAndStay();
  _exit(0);
}

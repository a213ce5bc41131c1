// CLOCK_MONOTONIC, by which BPF programs time what they send. Safe from any thread.
#ifndef OFFCPU_PROCESS_MONOTONIC_CLOCK_H_
#define OFFCPU_PROCESS_MONOTONIC_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace offcpu {

inline uint64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_MONOTONIC_CLOCK_H_

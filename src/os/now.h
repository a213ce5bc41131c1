// What a clock of the kernel's says. Safe from any thread.
#ifndef OFFCPU_OS_NOW_H_
#define OFFCPU_OS_NOW_H_

#include <time.h>

#include <cstdint>

namespace offcpu {

// `clock`: CLOCK_MONOTONIC, by which BPF programs time what they send; CLOCK_THREAD_CPUTIME_ID, ...
inline uint64_t NowNs(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace offcpu

#endif  // OFFCPU_OS_NOW_H_

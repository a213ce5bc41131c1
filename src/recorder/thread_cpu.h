// What CPU time the calling thread has used. Safe from any thread.
#ifndef OFFCPU_RECORDER_THREAD_CPU_H_
#define OFFCPU_RECORDER_THREAD_CPU_H_

#include <time.h>

#include <cstdint>

namespace offcpu {

inline uint64_t ThreadCpuNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_THREAD_CPU_H_

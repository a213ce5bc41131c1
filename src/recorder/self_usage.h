// What this process itself uses of the host. Reads /proc/self.
#ifndef OFFCPU_RECORDER_SELF_USAGE_H_
#define OFFCPU_RECORDER_SELF_USAGE_H_

#include <cstdint>

namespace offcpu {

struct SelfUsage {
  uint64_t cpu_ns = 0;
  uint64_t resident_bytes = 0;
};
SelfUsage MeasureSelf();

// Takes time for each of them: every module that is held open is one.
uint64_t OpenFiles();

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_SELF_USAGE_H_

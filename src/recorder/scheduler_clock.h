// Time as the scheduler counts it, read from outside. Its clock and CLOCK_MONOTONIC drift apart, by seconds a day: the
// one is slewed to the time of day, the other is not. Thread-safe.
#ifndef OFFCPU_RECORDER_SCHEDULER_CLOCK_H_
#define OFFCPU_RECORDER_SCHEDULER_CLOCK_H_

#include <cstdint>

#include "os/owned_fd.h"

namespace offcpu {

class SchedulerClock {
 public:
  // `own`: the programs read the scheduler's clock, not CLOCK_MONOTONIC for want of it.
  explicit SchedulerClock(bool own);

  // Nanoseconds since some moment, read between the call and its return; 0 if that failed. Where the kernel does not
  // tell, those of CLOCK_MONOTONIC.
  uint64_t ReadNs() const;

 private:
  OwnedFd event_;  // of perf: the time that it has been enabled is counted by that clock
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_SCHEDULER_CLOCK_H_

#include "recorder/scheduler_clock.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/now.h"
#include "recorder/clocks.h"

namespace offcpu {

SchedulerClock::SchedulerClock(bool own) {
  if (!own) return;
  constexpr pid_t kAnyProcess = -1;
  constexpr int kCpu = 0;  // the one that is never taken away
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
  event_ =
      OwnedFd(static_cast<int>(syscall(SYS_perf_event_open, &attributes, kAnyProcess, kCpu, -1, PERF_FLAG_FD_CLOEXEC)));
}

uint64_t SchedulerClock::ReadNs() const {
  struct {
    uint64_t count;
    uint64_t enabled_ns;
  } reading = {};
  if (event_) return read(event_.get(), &reading, sizeof(reading)) == sizeof(reading) ? reading.enabled_ns : 0;
  return NowNs(CLOCK_MONOTONIC);
}

}  // namespace offcpu

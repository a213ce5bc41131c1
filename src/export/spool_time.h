// When something went into the spool, and how long it has waited there, by clocks of which one may jump.
//
// Within a boot the time since it began tells how long a record has waited, whatever the wall clock is set to
// meanwhile. Across boots there is only the wall clock. It may be wrong when a machine comes up, so in the first
// minutes it makes nothing old; and a record that it says is from the future has waited at least since this process
// came to see it.
#ifndef OFFCPU_EXPORT_SPOOL_TIME_H_
#define OFFCPU_EXPORT_SPOOL_TIME_H_

#include <cstdint>

namespace offcpu {

struct SpoolTime {
  uint64_t unix_ns = 0;
  uint64_t boot_ns = 0;  // since the machine came up, suspended or not: CLOCK_BOOTTIME
  uint64_t boot = 0;     // names the boot that boot_ns is of
};

// What the clocks say. Any thread.
SpoolTime SpoolTimeNow();

// So long after `first_ns` a wall clock that is set over the network has been.
inline constexpr uint64_t kClockSettlesNs = 600ull * 1'000'000'000;

// How long what was appended then has waited now, in ns. `first_ns`: boot_ns at which this process first looked.
uint64_t WaitedNs(const SpoolTime& appended, const SpoolTime& now, uint64_t first_ns);

}  // namespace offcpu

#endif  // OFFCPU_EXPORT_SPOOL_TIME_H_

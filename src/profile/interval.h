// One stretch of one thread off the CPU, or the part of it that lies in a window, or a sample of it on a CPU: a row on
// its way into the table, which waits for its user stacks. A plain value.
#ifndef OFFCPU_PROFILE_INTERVAL_H_
#define OFFCPU_PROFILE_INTERVAL_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "profile/profile.h"
#include "profile/time_buckets.h"

namespace offcpu {

// Who ended it; as Waker has it, but its user stack comes with a capture too.
struct IntervalWaker {
  Waker in_profile;
  bool has_user_stack = false;  // as in Interval, as the next two are
  uint64_t cookie = 0;          // 0 for an interrupt
  NoUserStack missing = NoUserStack::kNone;

  bool operator==(const IntervalWaker&) const = default;
};

// Where an interval lies, or several that are added up: each that does not lie in one second with another one.
using Stretches = absl::InlinedVector<Stretch, 1>;

struct Interval {
  ProfileRow row;                            // its user stack and its waker are the joiner's to find out
  bool has_user_stack = false;               // that of the row is known already: the next two say nothing
  uint64_t cookie = 0;                       // the kernel entry whose capture brings the user stack
  NoUserStack missing = NoUserStack::kNone;  // kNone iff `cookie` is not 0; else why there will be no capture
  std::vector<IntervalWaker> wakers;         // see WakerChain; empty: not known, or nobody had to end it
  Stretches when;
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_INTERVAL_H_

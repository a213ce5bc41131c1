// One stretch of one thread off the CPU, or the part of it that lies in a window, or a sample of it on a CPU: the names
// are already indices into the tables of this folder. A plain value.
#ifndef OFFCPU_PROFILE_INTERVAL_H_
#define OFFCPU_PROFILE_INTERVAL_H_

#include <cstdint>
#include <vector>

#include "profile/profile.h"

namespace offcpu {

// Who ended it; as WakerLink, but that its user stack comes with a capture too.
struct IntervalWaker {
  WakerLink link;
  uint64_t cookie = 0;                       // as in Interval; 0 for an interrupt
  NoUserStack missing = NoUserStack::kNone;  // likewise

  bool operator==(const IntervalWaker&) const = default;
};

struct Interval {
  uint64_t cookie = 0;                       // the stay whose capture brings the user stack
  NoUserStack missing = NoUserStack::kNone;  // kNone iff `cookie` is not 0; else why there will be no capture
  uint32_t process = 0;                      // OffCpuTable::InternProcess
  int32_t tid = 0;                           // 0: threads are not told apart
  uint32_t comm = 0;                         // OffCpuTable::InternComm
  uint32_t kernel_stack = 0;                 // StackTable::InternKernel
  WaitKind kind = WaitKind::kSleeping;
  int32_t syscall = kNoSystemCall;
  uint64_t blocked_ns = 0;
  uint64_t runnable_ns = 0;
  uint64_t cpu_ns = 0;     // that a sample stands for; 0: it is none
  uint64_t whole_ns = 0;   // length of the interval that this is a part of; 0: it is all of it
  uint64_t sample_ns = 0;  // if the whole is shorter than this, it was drawn and stands for so much time; 0: it was not
  std::vector<IntervalWaker> wakers;  // see WakerChain; empty: not known, or nobody had to end it
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_INTERVAL_H_

// A stretch of a wait: its thread is blocked first, then it waits for a CPU. A plain value.
#ifndef OFFCPU_RECORDER_WAIT_PART_H_
#define OFFCPU_RECORDER_WAIT_PART_H_

#include <algorithm>
#include <cstdint>

namespace offcpu {

struct WaitPart {
  uint64_t blocked_ns = 0;
  uint64_t runnable_ns = 0;
  uint64_t end_ns = 0;  // scheduler's clock

  uint64_t total_ns() const { return blocked_ns + runnable_ns; }

  // Cuts off and returns all but the last `ns`.
  WaitPart TakeAllBut(uint64_t ns) {
    const uint64_t before_ns = total_ns() - std::min(total_ns(), ns);
    WaitPart before;
    before.blocked_ns = std::min(blocked_ns, before_ns);
    before.runnable_ns = before_ns - before.blocked_ns;
    before.end_ns = end_ns - std::min(end_ns, total_ns() - before_ns);
    blocked_ns -= before.blocked_ns;
    runnable_ns -= before.runnable_ns;
    return before;
  }
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_WAIT_PART_H_

// The CPU time of a thread that looks for something to do, and what of it is for what it finds: its turns, beyond the
// least that one of them takes. One thread adds, any thread reads.
#ifndef OFFCPU_RECORDER_TURN_TIMES_H_
#define OFFCPU_RECORDER_TURN_TIMES_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

namespace offcpu {

class TurnTimes {
 public:
  void Add(uint64_t turn_ns) {
    least_ns_ = std::min(least_ns_, turn_ns);
    beyond_ns_.fetch_add(turn_ns - least_ns_, std::memory_order_relaxed);
  }
  // The thread has taken so much by now.
  void SetAll(uint64_t thread_ns) { all_ns_.store(thread_ns, std::memory_order_relaxed); }

  uint64_t all_ns() const { return all_ns_.load(std::memory_order_relaxed); }
  uint64_t beyond_ns() const { return beyond_ns_.load(std::memory_order_relaxed); }

 private:
  uint64_t least_ns_ = std::numeric_limits<uint64_t>::max();
  std::atomic<uint64_t> beyond_ns_{0};
  std::atomic<uint64_t> all_ns_{0};
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_TURN_TIMES_H_

// How long the drainer sleeps between two reads of the rings: less where much comes, longer where little does, because
// most of the cost of an idle recording is that its threads wake up. Plain state of one thread.
#ifndef OFFCPU_RECORDER_DRAIN_PACE_H_
#define OFFCPU_RECORDER_DRAIN_PACE_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace offcpu {

class DrainPace {
 public:
  using Ms = std::chrono::milliseconds;
  static constexpr Ms kShortest{5};
  static constexpr Ms kLongest{40};
  // Later on, where the rings wake the drainer before they are full. Much at once would keep a CPU from others for
  // long.
  static constexpr Ms kLongestLater{160};
  // Hundreds of intervals, or a capture or two: a stack that is being learned is captured until it is known.
  static constexpr size_t kFewBytes = 32 << 10;
  // Most stacks are known then. The sooner the first walks tell how much of a stack is needed, the fewer captures are
  // too short.
  static constexpr size_t kFewBytesLater = 128 << 10;
  static constexpr uint64_t kSettlesNs = 5'000'000'000;

  // Recording begins at `now_ns`. `settles`: most stacks are known after a while.
  DrainPace(bool settles, uint64_t now_ns) : settled_ns_(settles ? now_ns + kSettlesNs : UINT64_MAX) {}

  Ms period() const { return period_; }
  // A read at `now_ns` has found so many bytes.
  void NoteRead(uint64_t now_ns, size_t bytes) {
    const bool is_settled = now_ns >= settled_ns_;
    if (bytes <= (is_settled ? kFewBytesLater : kFewBytes)) {
      period_ = std::min(2 * period_, is_settled ? kLongestLater : kLongest);
    } else {
      period_ = is_settled ? std::max(period_ / 2, kShortest) : kShortest;
    }
  }
  // Something that may be gone soon has come, and more may follow.
  void Hurry() { period_ = std::min(period_, kLongest / 2); }

 private:
  const uint64_t settled_ns_;
  Ms period_ = kShortest;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_DRAIN_PACE_H_

// How often a process may be read again: all readings of a kind may take a small part of a CPU, and more at once where
// few were made, as at the start of a program. A program that maps code all the time would otherwise be read all the
// time, by a thread that comes before others on its CPU. A plain value; any clock that does not go back.
#ifndef OFFCPU_RECORDER_READING_PACE_H_
#define OFFCPU_RECORDER_READING_PACE_H_

#include <algorithm>
#include <cstdint>

namespace offcpu {

struct PaceRate {
  uint64_t part = 0;        // of a CPU, one in so many
  uint64_t at_once_ns = 0;  // of CPU time
};

// Process snapshots: programs begin with 1 to 40 ms.
inline constexpr PaceRate kSnapshotRate = {.part = 200, .at_once_ns = 50'000'000};
// Code and names that a runtime has made: what is read too late has no proof and no name.
inline constexpr PaceRate kRuntimeRate = {.part = 50, .at_once_ns = 200'000'000};

class ReadingPace {
 public:
  static constexpr uint64_t kLongestPauseNs = 1'000'000'000;  // captures wait for the next reading, in memory

  explicit ReadingPace(const PaceRate& rate) : rate_(rate) {}

  void Spend(uint64_t cpu_ns, uint64_t now_ns) {
    paid_ns_ = std::min(std::max(paid_ns_, now_ns) + cpu_ns * rate_.part, now_ns + AtOnce() + kLongestPauseNs);
  }
  // Another reading may begin then; not later than now: at once.
  uint64_t next_ns() const { return paid_ns_ - std::min(paid_ns_, AtOnce()); }
  // As if none had ever been made.
  bool is_paid(uint64_t now_ns) const { return paid_ns_ <= now_ns; }

 private:
  uint64_t AtOnce() const { return rate_.at_once_ns * rate_.part; }

  PaceRate rate_;
  uint64_t paid_ns_ = 0;  // when all that was spent has been allowed for
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_READING_PACE_H_

// How often snapshots of one process may be taken: they may take a small part of a CPU, and more at once where few were
// made, as at the start of a program, when its tables are read. A program that maps code all the time would otherwise
// be looked at all the time, by a thread that comes before others on its CPU. A plain value; any clock that does not go
// back.
#ifndef OFFCPU_RECORDER_SNAPSHOT_PACE_H_
#define OFFCPU_RECORDER_SNAPSHOT_PACE_H_

#include <algorithm>
#include <cstdint>

namespace offcpu {

class SnapshotPace {
 public:
  static constexpr uint64_t kPart = 200;                      // of a CPU, one in so many
  static constexpr uint64_t kAtOnceNs = 50'000'000;           // of CPU time: programs begin with 1 to 40 ms
  static constexpr uint64_t kLongestPauseNs = 1'000'000'000;  // captures wait for the next snapshot, in memory

  void Spend(uint64_t cpu_ns, uint64_t now_ns) {
    paid_ns_ = std::min(std::max(paid_ns_, now_ns) + cpu_ns * kPart, now_ns + kAtOnceNs * kPart + kLongestPauseNs);
  }
  // Another snapshot may begin then; not later than now: at once.
  uint64_t next_ns() const { return paid_ns_ - std::min(paid_ns_, kAtOnceNs * kPart); }
  // As if no snapshot had ever been made.
  bool is_paid(uint64_t now_ns) const { return paid_ns_ <= now_ns; }

 private:
  uint64_t paid_ns_ = 0;  // when all that was spent has been allowed for
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_SNAPSHOT_PACE_H_

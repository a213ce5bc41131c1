// Which waits were still open when a window ended, and how much of them the windows so far have taken account of: when
// such a wait is seen again, at its end or at that of another window, only the rest of it counts. Plain state of one
// thread, bounded in threads.
//
// A wait is known by its thread and its place in time: a thread is in one wait at a time, so two stretches of it that
// overlap are of one wait. Instants are of the scheduler's clock.
#ifndef OFFCPU_RECORDER_REPORTED_WAITS_H_
#define OFFCPU_RECORDER_REPORTED_WAITS_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "recorder/wait_part.h"

namespace offcpu {

class ReportedWaits {
 public:
  explicit ReportedWaits(size_t max_threads) : max_threads_(max_threads) {}

  // A wait that began at `begin_ns` has lasted `all`: what of it has not been reported yet.
  WaitPart Rest(int32_t tid, uint64_t begin_ns, const WaitPart& all) const;
  // Notes that all of it has been reported. False if there is no room: then it must not be reported before it ends.
  [[nodiscard]] bool Report(int32_t tid, uint64_t begin_ns, const WaitPart& all);
  // A window was closed. A thread that was not reported in it may only not have been listed, for want of a buffer: it
  // is forgotten after kWindows of them.
  static constexpr uint64_t kWindows = 8;
  void CountWindow();

  size_t size() const { return by_tid_.size(); }

 private:
  struct Wait {
    uint64_t begin_ns = 0;
    uint64_t end_ns = 0;  // until when it was reported
    WaitPart reported;

    bool Overlaps(uint64_t other_begin_ns, uint64_t other_end_ns) const {
      return other_begin_ns < end_ns && other_end_ns > begin_ns;
    }
  };
  // An interval may still be on its way when its thread is in another wait already, at the end of the next window.
  struct Waits {
    Wait last;
    Wait before;
    uint64_t window = 0;  // in which it was reported last
  };

  const size_t max_threads_;
  uint64_t windows_ = 0;
  absl::flat_hash_map<int32_t, Waits> by_tid_;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_REPORTED_WAITS_H_

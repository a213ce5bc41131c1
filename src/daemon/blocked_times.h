// What threads were blocked for, of all windows that have ended: by cause, and whether they only waited for work.
// Causes and waits for work are recognized by names, so a thread of its own takes each window, if the sums are wanted,
// and names it unless another one has. A window for which that thread has no time is counted without its causes.
//
// Threads: any.
#ifndef OFFCPU_DAEMON_BLOCKED_TIMES_H_
#define OFFCPU_DAEMON_BLOCKED_TIMES_H_

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "classify/wait_cause.h"
#include "export/ended_window.h"

namespace offcpu {

struct BlockedSums {
  std::array<uint64_t, kWaitCauseCount> work_ns = {};  // by WaitCause: waits that kept the thread from its work
  std::array<uint64_t, kWaitCauseCount> idle_ns = {};  // waits for work
  uint64_t not_told_ns = 0;
  std::vector<Drop> lost_names;  // of functions
};

class BlockedTimes {
 public:
  static constexpr size_t kMostWaiting = 2;  // windows

  // ResourceExhausted if there is no thread for it.
  static absl::StatusOr<std::unique_ptr<BlockedTimes>> Start();
  // What has not been named by then is not counted.
  ~BlockedTimes();
  BlockedTimes(const BlockedTimes&) = delete;
  BlockedTimes& operator=(const BlockedTimes&) = delete;

  // Applies to windows that are added from now on; before that, nothing is counted.
  void Configure(bool is_wanted);
  // At once.
  void Add(std::shared_ptr<EndedWindow> window);
  BlockedSums sums() const;

 private:
  BlockedTimes() = default;

  void Loop();
  BlockedSums SumsOf(const std::shared_ptr<EndedWindow>& window);

  std::atomic<bool> stop_{false};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_wanted_ = false;  // guarded by mutex_, as what follows is
  std::deque<std::shared_ptr<EndedWindow>> waiting_;
  BlockedSums sums_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_BLOCKED_TIMES_H_

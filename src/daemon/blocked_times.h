// What threads were blocked for, of all windows that have ended: by cause, and whether they only waited for work; and
// where the time of services and containers went (group_times.h).
// Causes and waits for work are recognized by names, so a thread of its own takes each window, if the sums are wanted,
// and names it unless another one has. A window for which that thread has no time is counted without its causes.
//
// Threads: any.
#ifndef OFFCPU_DAEMON_BLOCKED_TIMES_H_
#define OFFCPU_DAEMON_BLOCKED_TIMES_H_

#include <atomic>
#include <compare>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "classify/idle_patterns.h"
#include "daemon/group_times.h"
#include "export/ended_window.h"

namespace offcpu {

// The waits for one cause.
struct BlockedTime {
  uint64_t work_ns = 0;  // waits that kept the thread from its work
  uint64_t idle_ns = 0;  // waits for work
};

// A cause of waits, and its family: classify/wait_cause.h.
struct BlockedBy {
  std::string family;
  std::string cause;

  auto operator<=>(const BlockedBy&) const = default;
};

struct BlockedSums {
  std::map<BlockedBy, BlockedTime> times;  // those that there can be, also where there was none
  uint64_t not_told_ns = 0;
  std::vector<Loss> lost_names;  // of functions
  TopGroups groups;
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

  // Applies to windows that are added from now on; before that, nothing is counted. `patterns`: those that windows are
  // judged by.
  void Configure(bool is_wanted, const IdlePatterns& patterns = DefaultIdlePatterns());
  // At once.
  void Add(std::shared_ptr<EndedWindow> window);
  BlockedSums sums() const;

 private:
  BlockedTimes() = default;

  void Loop();
  // What one window adds.
  struct WindowSums {
    BlockedSums sums;
    std::map<TimeGroup, GroupTime> groups;
  };
  WindowSums SumsOf(const std::shared_ptr<EndedWindow>& window);

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

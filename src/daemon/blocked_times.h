// What threads were blocked for, of all windows that have ended: by cause, and whether they only waited for work.
// Causes and waits for work are recognized by names, so a thread of its own names each window, if the sums are wanted.
// A window for which that thread has no time is counted without its causes.
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
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "classify/idle_patterns.h"
#include "daemon/window_store.h"
#include "process/reader_pool.h"
#include "symbolize/name_cache.h"

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
  std::vector<Drop> lost_names;  // of functions
};

class BlockedTimes {
 public:
  static constexpr size_t kMostWaiting = 2;  // windows
  static constexpr size_t kMaxNameBytes = 8u << 20;

  // ResourceExhausted if there is no thread for it. Files of targets are read on `readers`; null: its own.
  static absl::StatusOr<std::unique_ptr<BlockedTimes>> Start(std::shared_ptr<ReaderPool> readers = nullptr);
  // What has not been named by then is not counted.
  ~BlockedTimes();
  BlockedTimes(const BlockedTimes&) = delete;
  BlockedTimes& operator=(const BlockedTimes&) = delete;

  // Applies to windows that are added from now on; before that, nothing is counted.
  void Configure(bool is_wanted, IdlePatterns patterns);
  // The pieces of one window; at once.
  void Add(Windows window);
  BlockedSums sums() const;

 private:
  explicit BlockedTimes(std::shared_ptr<ReaderPool> readers) : readers_(std::move(readers)) {}

  void Loop();
  BlockedSums SumsOf(const Windows& window, const IdlePatterns& patterns);

  const std::shared_ptr<ReaderPool> readers_;
  std::atomic<bool> stop_{false};
  NameCache names_{kMaxNameBytes};  // of the thread
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_wanted_ = false;  // guarded by mutex_, as what follows is
  std::shared_ptr<const IdlePatterns> patterns_;
  std::deque<Windows> waiting_;
  BlockedSums sums_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_BLOCKED_TIMES_H_

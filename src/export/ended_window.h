// A window that has ended, for all that want it with names: its pieces are merged and named once, by the first thread
// that asks. All windows share one cache of names, and are named one at a time.
//
// Threads: any.
#ifndef OFFCPU_EXPORT_ENDED_WINDOW_H_
#define OFFCPU_EXPORT_ENDED_WINDOW_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "classify/idle_patterns.h"
#include "os/reader_pool.h"
#include "os/timed_read.h"
#include "profile/named_profile.h"
#include "profile/profile.h"
#include "symbolize/name_cache.h"

namespace offcpu {

// The pieces of one window, in order.
using WindowPieces = std::vector<std::shared_ptr<const Profile>>;

class WindowNames {
 public:
  static constexpr size_t kMaxNameBytes = 8u << 20;

  // Files of targets are read on `readers`; null: in line.
  explicit WindowNames(std::shared_ptr<ReaderPool> readers = nullptr) : readers_(std::move(readers)) {}
  WindowNames(const WindowNames&) = delete;
  WindowNames& operator=(const WindowNames&) = delete;

  // What waits for work, in windows that end from now on; before that, what is shipped.
  void SetIdlePatterns(IdlePatterns patterns);
  std::shared_ptr<const IdlePatterns> idle_patterns() const;

  NamedProfile Name(const WindowPieces& pieces, const IdlePatterns& idle, const IsCancelled& is_cancelled);

 private:
  const std::shared_ptr<ReaderPool> readers_;
  std::mutex naming_;
  NameCache cache_{kMaxNameBytes};  // guarded by naming_
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::shared_ptr<const IdlePatterns> idle_ = std::make_shared<const IdlePatterns>(DefaultIdlePatterns());
};

class EndedWindow {
 public:
  EndedWindow(WindowPieces pieces, std::shared_ptr<WindowNames> names);
  EndedWindow(const EndedWindow&) = delete;
  EndedWindow& operator=(const EndedWindow&) = delete;

  bool empty() const { return is_empty_; }
  uint64_t duration_ns() const { return duration_ns_; }
  uint64_t blocked_ns() const { return blocked_ns_; }

  // May take as long as the reads of the files that have the names. If `is_cancelled` says so meanwhile, names may be
  // missing, also for others that ask.
  const NamedProfile& Named(const IsCancelled& is_cancelled = [] { return false; });

 private:
  const std::shared_ptr<WindowNames> names_;
  const std::shared_ptr<const IdlePatterns> idle_;
  const bool is_empty_;
  uint64_t duration_ns_ = 0;
  uint64_t blocked_ns_ = 0;
  std::mutex mutex_;
  WindowPieces pieces_;  // until it is named; guarded by mutex_, as what follows is
  std::unique_ptr<const NamedProfile> named_;
};

}  // namespace offcpu

#endif  // OFFCPU_EXPORT_ENDED_WINDOW_H_

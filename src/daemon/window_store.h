// The last windows of the recording, bounded in number and in bytes. Plain memory: what windows share (modules) counts
// once. Threads: any; what is handed out is immutable and lives as long as someone holds it.
//
// A window can be added in pieces, because a caller that wants the time up to now cuts the running one. The pieces of a
// window stay apart until the window after it has ended, for those that ask for just that time, and are one then:
// windows are as long as was asked for, whatever callers ask. A caller that will ask for the time from some moment on
// keeps what is on the two sides of that moment apart for longer.
#ifndef OFFCPU_DAEMON_WINDOW_STORE_H_
#define OFFCPU_DAEMON_WINDOW_STORE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profile/profile.h"

namespace offcpu {

using WindowPieces = std::vector<std::shared_ptr<const Profile>>;

// What a profile holds in memory, code objects apart; and what a code object does. Estimates: what allocators add is
// not counted.
size_t BytesOf(const Profile& profile);
size_t BytesOf(const CodeObject& code);

struct WindowStoreLimits {
  size_t windows = 60;  // that have ended
  size_t bytes = 128u << 20;
};

struct WindowStoreStats {
  size_t windows = 0;  // that have ended
  size_t bytes = 0;
  uint64_t ended = 0;           // ever
  uint64_t over_bytes = 0;      // pieces that went for want of room and not of age
  uint64_t oldest_boot_ns = 0;  // when it began; 0: there is none
};

class WindowStore {
 public:
  // What is wholly before a moment stays apart from what is not, until this is destroyed. The store must outlive it.
  class Boundary {
   public:
    Boundary(WindowStore* store, uint64_t boot_ns);
    ~Boundary();
    Boundary(const Boundary&) = delete;
    Boundary& operator=(const Boundary&) = delete;

   private:
    WindowStore* const store_;
    const uint64_t boot_ns_;
  };

  explicit WindowStore(const WindowStoreLimits& limits) : limits_(limits) {}

  // The oldest windows go until what is left fits; the newest one stays, whatever its size.
  void SetLimits(const WindowStoreLimits& limits);

  // What was recorded since the last call; `ends_window`: the next piece begins another window. Returns the pieces of
  // the window that has ended, if one has; those are missing for which there was no room.
  WindowPieces Add(Profile piece, bool ends_window);

  // Those that have something of [since, until), oldest first, by CLOCK_BOOTTIME; 0: from the beginning, to the end.
  WindowPieces Between(uint64_t since_boot_ns, uint64_t until_boot_ns) const;

  WindowStoreStats stats() const;

 private:
  struct Piece {
    uint64_t window = 0;  // number of the window that it is of
    std::shared_ptr<const Profile> profile;
    size_t bytes = 0;
  };
  struct CodeUse {
    size_t bytes = 0;
    size_t pieces = 0;
  };

  size_t WholeLocked() const { return pieces_.empty() ? 0 : running_ - pieces_.front().window; }
  Piece HoldLocked(uint64_t window, std::shared_ptr<const Profile> profile);
  void LetGoLocked(const Piece& piece);
  void JoinLocked(uint64_t window);
  void JoinRunLocked(size_t begin, size_t end);  // indices of pieces
  bool IsBoundaryLocked(const Profile& before, const Profile& after) const;
  void EvictLocked();

  mutable std::mutex mutex_;
  WindowStoreLimits limits_;
  std::deque<Piece> pieces_;  // oldest first
  uint64_t running_ = 0;      // number of the window that pieces are added to
  absl::flat_hash_map<const CodeObject*, CodeUse> code_;
  size_t bytes_ = 0;
  uint64_t over_bytes_ = 0;
  std::multiset<uint64_t> boundaries_;  // by CLOCK_BOOTTIME
};

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_WINDOW_STORE_H_

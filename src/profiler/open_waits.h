// The waits that a recording ends in the middle of: clipped to it, of the kind `open`. Pure functions.
#ifndef OFFCPU_PROFILER_OPEN_WAITS_H_
#define OFFCPU_PROFILER_OPEN_WAITS_H_

#include <cstdint>
#include <vector>

#include "capture/events.h"
#include "capture/waiting_thread.h"
#include "profile/profile.h"

namespace offcpu {

struct OpenWaits {
  std::vector<Event> events;  // kernel stacks and intervals; user stacks come by the live path
  uint64_t sleepers = 0;      // threads that waited throughout and were only to be counted
  Drop filtered;              // too short, too long, or of another kind
};

struct OpenWaitsConfig {
  bool show_sleepers = true;
  uint64_t min_wait_ns = 0;
  uint64_t max_wait_ns = 0;     // 0: any length
  std::vector<WaitKind> kinds;  // empty: all
};

// `first` was listed right after the end, `last` when nothing could be recorded any more: it tells the times, because
// a wait of `first` may have ended in time to be recorded.
OpenWaits CloseOpenWaits(const std::vector<WaitingThread>& first, const std::vector<WaitingThread>& last,
                         const OpenWaitsConfig& config);

}  // namespace offcpu

#endif  // OFFCPU_PROFILER_OPEN_WAITS_H_

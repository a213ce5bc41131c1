// What the BPF programs, the queue and the modules have counted since they began, divided among windows. One thread.
#ifndef OFFCPU_RECORDER_WINDOW_COUNTS_H_
#define OFFCPU_RECORDER_WINDOW_COUNTS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "bpf_programs/counters.h"
#include "bpf_programs/event_queue.h"
#include "process/module_cache.h"
#include "profile/profile.h"

namespace offcpu {

class WindowCounts {
 public:
  // Recording begins. `modules` may have counted for others before. `oncpu_period_ns`: see NameLosses.
  WindowCounts(const ModuleCacheStats& modules, uint64_t oncpu_period_ns);

  // The window ends: what has been dropped in it.
  std::vector<Loss> Losses(const Counters& counters, const EventQueueStats& queue, const ModuleCacheStats& modules);
  // The other counts of the window that has ended.
  void Tell(ProfileStats& stats) const;

 private:
  const uint64_t oncpu_period_ns_;
  std::vector<Loss> losses_before_;
  uint64_t not_sampled_before_ = 0;
  std::array<uint64_t, kWalkMissCount> misses_before_ = {};
  // In the window that has ended, but for the longest: that is since the recording began.
  uint64_t not_sampled_ = 0;
  std::array<uint64_t, kWalkMissCount> misses_ = {};
  uint64_t capture_longest_ns_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_WINDOW_COUNTS_H_

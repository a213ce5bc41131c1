#include "recorder/window_counts.h"

#include <utility>

#include "recorder/named_losses.h"
#include "recorder/window.h"

namespace offcpu {

WindowCounts::WindowCounts(const ModuleCacheStats& modules, uint64_t oncpu_period_ns)
    : oncpu_period_ns_(oncpu_period_ns), losses_before_(NameLosses({}, {}, modules)) {}

std::vector<Loss> WindowCounts::Losses(const Counters& counters, const EventQueueStats& queue,
                                       const ModuleCacheStats& modules) {
  std::vector<Loss> losses = NameLosses(counters, queue, modules, oncpu_period_ns_);
  std::vector<Loss> since = LossesSince(losses_before_, losses);
  losses_before_ = std::move(losses);
  not_sampled_ = NotSampled(counters) - not_sampled_before_;
  not_sampled_before_ += not_sampled_;
  capture_longest_ns_ = LongestCaptureNs(counters);
  const std::array<uint64_t, kWalkMissCount> misses = WalkMisses(counters);
  for (size_t i = 0; i < misses.size(); ++i) misses_[i] = misses[i] - std::exchange(misses_before_[i], misses[i]);
  return since;
}

void WindowCounts::Tell(ProfileStats& stats) const {
  stats.not_sampled = not_sampled_;
  stats.walk_misses = misses_;
  stats.capture_longest_ns = capture_longest_ns_;
}

}  // namespace offcpu

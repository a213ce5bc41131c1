#include "recorder/reported_waits.h"

#include <algorithm>

namespace offcpu {

WaitPart ReportedWaits::Rest(int32_t tid, uint64_t begin_ns, const WaitPart& all) const {
  const auto found = by_tid_.find(tid);
  const uint64_t end_ns = begin_ns + all.total_ns();
  if (found == by_tid_.end()) return all;
  const Waits& waits = found->second;
  const Wait& known = waits.last.Overlaps(begin_ns, end_ns) ? waits.last : waits.before;
  if (!known.Overlaps(begin_ns, end_ns)) return all;
  WaitPart rest;
  const uint64_t rest_ns = all.total_ns() - std::min(all.total_ns(), known.reported.total_ns());
  rest.blocked_ns = std::min(rest_ns, all.blocked_ns - std::min(all.blocked_ns, known.reported.blocked_ns));
  rest.runnable_ns = rest_ns - rest.blocked_ns;
  rest.end_ns = all.end_ns;
  return rest;
}

bool ReportedWaits::Report(int32_t tid, uint64_t begin_ns, const WaitPart& all) {
  if (by_tid_.size() >= max_threads_ && !by_tid_.contains(tid)) return false;
  const Wait wait = {.begin_ns = begin_ns, .end_ns = begin_ns + all.total_ns(), .reported = all};
  Waits& waits = by_tid_[tid];
  if (!waits.last.Overlaps(wait.begin_ns, wait.end_ns)) waits.before = waits.last;
  waits.last = wait;
  waits.window = windows_;
  return true;
}

void ReportedWaits::CountWindow() {
  ++windows_;
  absl::erase_if(by_tid_, [this](const auto& entry) { return windows_ - entry.second.window > kWindows; });
}

}  // namespace offcpu

#include "recorder/open_waits.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace offcpu {
namespace {

WaitPart AllOf(const OpenWait& open) {
  return {.blocked_ns = open.blocked_ns,
          .runnable_ns = open.runnable_ns,
          .end_ns = open.begin_ns + open.blocked_ns + open.runnable_ns};
}

void Count(const WaitPart& part, Loss& loss) {
  if (part.total_ns() == 0) return;
  ++loss.count;
  loss.ns += part.total_ns();
}

IntervalEvent IntervalOf(const WaitingThread& thread, const WaitPart& part) {
  return {.process = thread.process,
          .tid = thread.tid,
          .missing = thread.is_kernel ? NoUserStack::kKernelThread : NoUserStack::kStale,
          .kind = WaitKind::kOpen,
          .end_ns = part.end_ns,
          .blocked_ns = part.blocked_ns,
          .runnable_ns = part.runnable_ns,
          .control_group = thread.control_group,
          .comm = thread.comm};
}

}  // namespace

std::optional<LostTime> WhyLeftOut(const OpenWait& open, const OpenWaitsConfig& config) {
  const uint64_t ns = AllOf(open).total_ns();
  if (ns < config.min_wait_ns) return LostTime::kBelowMinWait;
  if (config.max_wait_ns != 0 && ns > config.max_wait_ns) return LostTime::kAboveMaxWait;
  const bool wanted = std::find(config.kinds.begin(), config.kinds.end(), open.kind) != config.kinds.end();
  return wanted || config.kinds.empty() ? std::nullopt : std::optional(LostTime::kOtherKind);
}

bool IsThroughout(const OpenWait& open, uint64_t window_begin_ns) {
  return open.throughout || open.begin_ns <= window_begin_ns;
}

OpenWaits CloseOpenWaits(uint64_t window_begin_ns, const std::vector<WaitingThread>& first,
                         const std::vector<WaitingThread>& last, const OpenWaitsConfig& config,
                         const wire_hash_key& key, ReportedWaits& reported) {
  absl::flat_hash_map<int32_t, const WaitingThread*> listed;
  for (const WaitingThread& thread : first) listed[thread.tid] = &thread;
  OpenWaits result;
  absl::flat_hash_set<uint64_t> defined;
  for (const WaitingThread& thread : last) {
    if (!thread.open.has_value()) continue;
    const WaitPart all = AllOf(*thread.open);
    WaitPart part = reported.Rest(thread.tid, thread.open->begin_ns, all);
    const WaitPart missed = part.TakeAllBut(all.end_ns - std::min(all.end_ns, window_begin_ns));
    if (part.total_ns() == 0 || !reported.Report(thread.tid, thread.open->begin_ns, all)) continue;
    Count(missed, result.missed);
    if (IsThroughout(*thread.open, window_begin_ns) && !config.show_sleepers) {
      ++result.sleepers;
      continue;
    }
    if (WhyLeftOut(*thread.open, config)) {
      Count(part, result.filtered);
      continue;
    }
    IntervalEvent event = IntervalOf(thread, part);
    const auto found = listed.find(thread.tid);
    // What it does since the end is not what it did at the end.
    if (found != listed.end() && found->second->process == thread.process && found->second->in_open_wait) {
      const WaitingThread& then = *found->second;
      event.switches = then.switches;
      event.syscall = then.syscall;
      event.kernel_stack = then.kernel.empty() ? 0 : KernelStackId(key, then.kernel);
      if (!then.has_user && !then.is_kernel) event.missing = NoUserStack::kUnreadable;
      if (event.kernel_stack != 0 && defined.insert(event.kernel_stack).second) {
        result.kernel_stacks.push_back({.id = event.kernel_stack, .addresses = then.kernel});
      }
    }
    result.intervals.push_back(std::move(event));
  }
  return result;
}

}  // namespace offcpu

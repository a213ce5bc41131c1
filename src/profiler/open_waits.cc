#include "profiler/open_waits.h"

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"

namespace offcpu {
namespace {

// BPF programs name stacks by a hash of theirs; two of different stacks are as unlikely to be equal.
uint64_t IdOf(const std::vector<uint64_t>& kernel) { return kernel.empty() ? 0 : absl::HashOf(kernel) | 1; }

IntervalEvent IntervalOf(const WaitingThread& thread, const OpenWait& open) {
  return {.process = thread.process,
          .tid = thread.tid,
          .missing = NoUserStack::kStale,
          .kind = WaitKind::kOpen,
          .blocked_ns = open.blocked_ns,
          .runnable_ns = open.runnable_ns,
          .comm = thread.comm};
}

}  // namespace

OpenWaits CloseOpenWaits(const std::vector<WaitingThread>& first, const std::vector<WaitingThread>& last,
                         const OpenWaitsConfig& config) {
  absl::flat_hash_map<int32_t, const WaitingThread*> listed;
  for (const WaitingThread& thread : first) listed[thread.tid] = &thread;
  OpenWaits result;
  result.too_short.reason = "still waiting, not for --min-wait";
  absl::flat_hash_set<uint64_t> defined;
  for (const WaitingThread& thread : last) {
    if (!thread.open.has_value()) continue;
    const uint64_t ns = thread.open->blocked_ns + thread.open->runnable_ns;
    if (thread.open->throughout && !config.show_sleepers) {
      ++result.sleepers;
      continue;
    }
    if (ns < config.min_wait_ns) {
      ++result.too_short.count;
      result.too_short.ns += ns;
      continue;
    }
    IntervalEvent event = IntervalOf(thread, *thread.open);
    const auto found = listed.find(thread.tid);
    // What it does since the end is not what it did at the end.
    if (found != listed.end() && found->second->process == thread.process && found->second->in_open_wait) {
      const WaitingThread& then = *found->second;
      event.switches = then.switches;
      event.kernel_stack = IdOf(then.kernel);
      if (!then.has_user) event.missing = NoUserStack::kUnreadable;
      if (event.kernel_stack != 0 && defined.insert(event.kernel_stack).second) {
        result.events.emplace_back(KernelStackEvent{.id = event.kernel_stack, .addresses = then.kernel});
      }
    }
    result.events.emplace_back(std::move(event));
  }
  return result;
}

}  // namespace offcpu

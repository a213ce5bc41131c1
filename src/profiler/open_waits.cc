#include "profiler/open_waits.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"

namespace offcpu {
namespace {

// BPF programs name stacks by a hash of theirs; two of different stacks are as unlikely to be equal.
uint64_t IdOf(const std::vector<uint64_t>& kernel) { return kernel.empty() ? 0 : absl::HashOf(kernel) | 1; }

uint64_t LengthOf(const OpenWait& open) { return open.blocked_ns + open.runnable_ns; }

bool IsWanted(const OpenWait& open, const OpenWaitsConfig& config) {
  const uint64_t ns = LengthOf(open);
  if (ns < config.min_wait_ns || (config.max_wait_ns != 0 && ns > config.max_wait_ns)) return false;
  return config.kinds.empty() || std::find(config.kinds.begin(), config.kinds.end(), open.kind) != config.kinds.end();
}

IntervalEvent IntervalOf(const WaitingThread& thread, const OpenWait& open) {
  return {.process = thread.process,
          .tid = thread.tid,
          .missing = thread.is_kernel ? NoUserStack::kKernelThread : NoUserStack::kStale,
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
  result.filtered.reason = "still waiting, and filtered out";
  absl::flat_hash_set<uint64_t> defined;
  for (const WaitingThread& thread : last) {
    if (!thread.open.has_value()) continue;
    if (thread.open->throughout && !config.show_sleepers) {
      ++result.sleepers;
      continue;
    }
    if (!IsWanted(*thread.open, config)) {
      ++result.filtered.count;
      result.filtered.ns += LengthOf(*thread.open);
      continue;
    }
    IntervalEvent event = IntervalOf(thread, *thread.open);
    const auto found = listed.find(thread.tid);
    // What it does since the end is not what it did at the end.
    if (found != listed.end() && found->second->process == thread.process && found->second->in_open_wait) {
      const WaitingThread& then = *found->second;
      event.switches = then.switches;
      event.kernel_stack = IdOf(then.kernel);
      if (!then.has_user && !then.is_kernel) event.missing = NoUserStack::kUnreadable;
      if (event.kernel_stack != 0 && defined.insert(event.kernel_stack).second) {
        result.events.emplace_back(KernelStackEvent{.id = event.kernel_stack, .addresses = then.kernel});
      }
    }
    result.events.emplace_back(std::move(event));
  }
  return result;
}

}  // namespace offcpu

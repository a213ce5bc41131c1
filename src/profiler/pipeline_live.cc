// The pipeline's part in the live path: whose stacks are read from outside, and which waits they serve.
#include <memory>
#include <utility>
#include <vector>

#include "profiler/pipeline.h"

namespace offcpu {
namespace {

// From a thread's coming back to the handling of its interval and of its capture, where all keep up.
constexpr uint64_t kStaleNs = 100'000'000;

}  // namespace

void Pipeline::UseLiveStack(const IntervalEvent& event, Window& window, Interval* interval) {
  LiveWait* wait = live_.Find(event.process, event.tid, event.switches);
  if (wait == nullptr) return;
  // A wait that is over has its own capture on the way, which serves the windows that it was open in too; one that is
  // not has nothing else to hope for.
  const bool is_open = event.kind == WaitKind::kOpen;
  if (wait->stack.has_value()) {
    // It may have been long ago, in another window.
    if (window.FindOutcome(wait->cookie) == nullptr) window.Resolve(wait->cookie, *wait->stack);
  } else if (!is_open) {
    if (event.cookie != 0 && event.cookie != wait->cookie) live_.Link(*wait, event.tid, event.cookie);
    return;
  } else if (wait->failed != NoUserStack::kNone) {
    interval->missing = wait->failed;
    return;
  }
  interval->cookie = wait->cookie;
  interval->missing = NoUserStack::kNone;
}

void Pipeline::ReadWaiting(std::vector<WaitingThread> threads) {
  absl::flat_hash_map<ProcessKey, std::vector<WaitingThread>> by_process;
  for (WaitingThread& thread : threads) {
    if (!thread.in_open_wait || thread.is_kernel) continue;
    if (!config_.open_waits.show_sleepers && IsThroughout(*thread.open, current_->begin_ns())) continue;
    if (live_.Begin(thread) == nullptr) continue;
    FindOrAddTarget(thread.process, thread.tid, thread.comm);
    std::vector<WaitingThread>& batch = by_process[thread.process];
    batch.push_back(std::move(thread));
    if (batch.size() == kLiveThreadsAtOnce) AddUnread(std::exchange(batch, {}));
  }
  for (auto& [process, batch] : by_process) {
    if (!batch.empty()) AddUnread(std::move(batch));
  }
  SubmitReading();
}

void Pipeline::AddUnread(std::vector<WaitingThread> threads) {
  if (unread_.size() < config_.unread_batches) {
    unread_.push_back(std::make_shared<const std::vector<WaitingThread>>(std::move(threads)));
  } else {
    OnLiveStacks(threads, std::vector<LiveStack>(threads.size(), {.missing = NoUserStack::kOverload}));
  }
}

void Pipeline::SubmitReading() {
  std::deque<Batch> batches = std::exchange(unread_, {});
  absl::flat_hash_set<uid_t> full;  // users whose batches have to wait
  for (Batch& batch : batches) {
    const ProcessKey& process = batch->front().process;
    const auto target = targets_.find(process);
    const uid_t owner = OwnerOf(process);
    const bool is_stuck = target != targets_.end() && target->second->stuck_reads != 0;
    const ReadTaken taken = is_stuck               ? ReadTaken::kUserStuck
                            : full.contains(owner) ? ReadTaken::kFull
                                                   : SubmitReading(batch, owner);
    if (taken == ReadTaken::kUserStuck)
      OnLiveStacks(*batch, std::vector<LiveStack>(batch->size(), {.missing = NoUserStack::kTargetStuck}));
    if (taken != ReadTaken::kFull) continue;
    full.insert(owner);
    unread_.push_back(std::move(batch));
  }
}

ReadTaken Pipeline::SubmitReading(const Batch& batch, uid_t owner) {
  return Submit(
      batch->front().process, owner,
      [this, batch, read = hooks_.read_stacks]() -> ReaderThreads::Completion {
        auto stacks = std::make_shared<std::vector<LiveStack>>(read(*batch));
        return [this, batch, stacks] { OnLiveStacks(*batch, std::move(*stacks)); };
      },
      [this, batch] {
        OnLiveStacks(*batch, std::vector<LiveStack>(batch->size(), {.missing = NoUserStack::kTargetStuck}));
      });
}

void Pipeline::OnLiveStacks(const std::vector<WaitingThread>& threads, std::vector<LiveStack> stacks) {
  for (size_t i = 0; i < threads.size(); ++i) {
    LiveWait* wait = live_.Find(threads[i].process, threads[i].tid, threads[i].switches);
    if (wait == nullptr) continue;  // forgotten, or its thread is in another wait by now
    if (stacks[i].missing == NoUserStack::kNone) {
      ++current_->stats().live_stacks;
      stacks[i].capture.cookie = wait->cookie;
      WalkOrWait(std::move(stacks[i].capture));
      continue;
    }
    wait->failed = stacks[i].missing;
    // Under a cookie of the thread's own a capture may still come.
    if (wait->cookie == threads[i].cookie) continue;
    if (wait->failed == NoUserStack::kStale) {
      stale_.push_back({.cookie = wait->cookie, .until_ns = now_ns_ + kStaleNs});
    } else {
      ResolveMissing(wait->cookie, wait->failed);
    }
  }
}

void Pipeline::GiveUpStale(uint64_t now_ns) {
  for (; !stale_.empty() && stale_.front().until_ns <= now_ns; stale_.pop_front()) {
    ResolveMissing(stale_.front().cookie, NoUserStack::kStale);
  }
}

}  // namespace offcpu

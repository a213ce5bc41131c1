#include "recorder/live_path.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace offcpu {
namespace {

constexpr size_t kMaxWaitingThreads = 1 << 17;
// From a thread's coming back to the handling of its interval and of its capture, where all keep up.
constexpr uint64_t kStaleNs = 100'000'000;

}  // namespace

LivePath::LivePath(Targets& targets, Hooks hooks, size_t unread_batches, uint64_t now_ns)
    : targets_(targets),
      hooks_(std::move(hooks)),
      unread_batches_(unread_batches),
      waits_(kMaxWaitingThreads),
      now_ns_(now_ns) {}

void LivePath::Read(std::vector<WaitingThread> threads) {
  absl::flat_hash_map<ProcessKey, std::vector<WaitingThread>> by_process;
  for (WaitingThread& thread : threads) {
    if (waits_.Begin(thread) == nullptr) continue;
    targets_.HearOf(thread.process, thread.tid, thread.comm);
    std::vector<WaitingThread>& batch = by_process[thread.process];
    batch.push_back(std::move(thread));
    if (batch.size() == kLiveThreadsAtOnce) AddUnread(std::exchange(batch, {}));
  }
  for (auto& [process, batch] : by_process) {
    if (!batch.empty()) AddUnread(std::move(batch));
  }
  SubmitUnread();
}

void LivePath::AddUnread(std::vector<WaitingThread> threads) {
  if (unread_.size() >= unread_batches_) return OnNoStacks(threads, NoUserStack::kOverload);
  unread_.push_back(std::make_shared<const std::vector<WaitingThread>>(std::move(threads)));
}

void LivePath::SubmitUnread() {
  std::deque<Batch> batches = std::exchange(unread_, {});
  absl::flat_hash_set<uid_t> full;  // users whose batches have to wait
  for (Batch& batch : batches) {
    const ProcessKey& process = batch->front().process;
    const uid_t owner = targets_.OwnerOf(process);
    const ReadTaken taken = targets_.IsStuck(process) ? ReadTaken::kUserStuck
                            : full.contains(owner)    ? ReadTaken::kFull
                                                      : Submit(batch, owner);
    if (taken == ReadTaken::kUserStuck) OnNoStacks(*batch, NoUserStack::kTargetStuck);
    if (taken != ReadTaken::kFull) continue;
    full.insert(owner);
    unread_.push_back(std::move(batch));
  }
}

ReadTaken LivePath::Submit(const Batch& batch, uid_t owner) {
  return targets_.Read(
      batch->front().process, owner,
      [this, batch, read = hooks_.read_stacks]() -> ReaderThreads::Completion {
        auto stacks = std::make_shared<std::vector<LiveStack>>(read(*batch));
        return [this, batch, stacks] { OnStacks(*batch, std::move(*stacks)); };
      },
      [this, batch] { OnNoStacks(*batch, NoUserStack::kTargetStuck); });
}

void LivePath::OnStacks(const std::vector<WaitingThread>& threads, std::vector<LiveStack> stacks) {
  for (size_t i = 0; i < threads.size(); ++i) {
    LiveWait* wait = waits_.Find(threads[i].process, threads[i].tid, threads[i].switches);
    if (wait == nullptr) continue;  // forgotten, or its thread is in another wait by now
    if (stacks[i].missing != NoUserStack::kNone) {
      OnNoStack(threads[i], *wait, stacks[i].missing);
      continue;
    }
    stacks[i].capture.cookie = wait->cookie;
    hooks_.capture(std::move(stacks[i].capture));
  }
}

void LivePath::OnNoStacks(const std::vector<WaitingThread>& threads, NoUserStack reason) {
  OnStacks(threads, std::vector<LiveStack>(threads.size(), {.missing = reason}));
}

void LivePath::OnNoStack(const WaitingThread& thread, LiveWait& wait, NoUserStack reason) {
  wait.failed = reason;
  // Under a cookie of the thread's own a capture may still come.
  if (wait.cookie == thread.cookie) return;
  if (reason == NoUserStack::kStale) {
    stale_.push_back({.cookie = wait.cookie, .until_ns = now_ns_ + kStaleNs});
  } else {
    hooks_.give_up(wait.cookie, reason);
  }
}

void LivePath::Tick(uint64_t now_ns) {
  now_ns_ = now_ns;
  SubmitUnread();
  GiveUpStale(now_ns);
}

void LivePath::GiveUpStale(uint64_t now_ns) {
  for (; !stale_.empty() && stale_.front().until_ns <= now_ns; stale_.pop_front()) {
    hooks_.give_up(stale_.front().cookie, NoUserStack::kStale);
  }
}

void LivePath::FindStack(const IntervalEvent& event, Window& window, Interval* interval) {
  LiveWait* wait = waits_.Find(event.process, event.tid, event.switches);
  if (wait == nullptr) return;
  // A wait that is over has its own capture on the way, which serves the windows that it was open in too; one that is
  // not has nothing else to hope for.
  const bool is_open = event.kind == WaitKind::kOpen;
  if (wait->stack.has_value()) {
    // It may have been long ago, in another window.
    if (window.FindOutcome(wait->cookie) == nullptr) window.Resolve(wait->cookie, *wait->stack);
  } else if (!is_open) {
    if (event.cookie != 0 && event.cookie != wait->cookie) waits_.Link(*wait, event.tid, event.cookie);
    return;
  } else if (wait->failed != NoUserStack::kNone) {
    interval->missing = wait->failed;
    return;
  }
  interval->cookie = wait->cookie;
  interval->missing = NoUserStack::kNone;
}

uint64_t LivePath::AwaitedCookie(const IntervalEvent& event) {
  const LiveWait* wait = waits_.Find(event.process, event.tid, event.switches);
  return wait != nullptr && !wait->stack.has_value() ? wait->cookie : 0;
}

uint64_t LivePath::Resolve(uint64_t cookie, const UserStack& stack) {
  const LiveWait* wait = waits_.Resolve(cookie, stack);
  return wait != nullptr && wait->cookie != cookie ? wait->cookie : 0;
}

}  // namespace offcpu

#include "recorder/live_path.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace offcpu {
namespace {

// From a thread's coming back to the handling of its interval and of its capture, where all keep up.
constexpr uint64_t kStaleNs = 100'000'000;

}  // namespace

LivePath::LivePath(Targets& targets, Stacks& stacks, std::shared_ptr<Host> host, size_t unread_batches, uint64_t now_ns)
    : targets_(targets), stacks_(stacks), host_(std::move(host)), unread_batches_(unread_batches), now_ns_(now_ns) {}

void LivePath::Read(std::vector<WaitingThread> threads) {
  absl::flat_hash_map<ProcessKey, std::vector<WaitingThread>> by_process;
  for (WaitingThread& thread : threads) {
    if (stacks_.BeginWait(thread) == nullptr) continue;
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
      [this, batch, host = host_]() -> ReaderThreads::Completion {
        auto stacks = std::make_shared<std::vector<LiveStack>>(host->ReadStacks(*batch));
        return [this, batch, stacks] { OnStacks(*batch, std::move(*stacks)); };
      },
      [this, batch] { OnNoStacks(*batch, NoUserStack::kTargetStuck); });
}

void LivePath::OnStacks(const std::vector<WaitingThread>& threads, std::vector<LiveStack> stacks) {
  for (size_t i = 0; i < threads.size(); ++i) {
    LiveWait* wait = stacks_.FindWait(threads[i]);
    if (wait == nullptr) continue;  // forgotten, or its thread is in another wait by now
    if (stacks[i].missing != NoUserStack::kNone) {
      OnNoStack(threads[i], *wait, stacks[i].missing);
      continue;
    }
    stacks[i].capture.cookie = wait->cookie;
    ++read_;
    targets_.OnCapture(std::move(stacks[i].capture));
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
    stacks_.Fail(wait.cookie, reason);
  }
}

void LivePath::Tick(uint64_t now_ns) {
  now_ns_ = now_ns;
  SubmitUnread();
  GiveUpStale(now_ns);
}

void LivePath::GiveUpStale(uint64_t now_ns) {
  for (; !stale_.empty() && stale_.front().until_ns <= now_ns; stale_.pop_front()) {
    stacks_.Fail(stale_.front().cookie, NoUserStack::kStale);
  }
}

}  // namespace offcpu

// The pipeline's part in windows: which of them an interval belongs to, and how one ends and the next begins.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "profile/losses.h"
#include "profiler/pipeline.h"

namespace offcpu {

void Pipeline::On(IntervalEvent&& event) {
  ++intervals_;
  FindOrAddTarget(event.process, event.tid, event.comm);
  for (const WakerEvent& waker : event.wakers) {
    if (waker.interrupt || waker.missing == NoUserStack::kKernelThread) continue;
    FindOrAddTarget(waker.process, waker.tid, waker.comm);
  }
  const WaitPart all = {.blocked_ns = event.blocked_ns, .runnable_ns = event.runnable_ns};
  WaitPart part = reported_.Rest(event.tid, event.end_ns - all.total_ns(), all);
  const uint64_t begin_ns = current_->begin_ns();
  if (begin_ns == 0) {  // the first window: the programs clip to it
    ++current_->stats().intervals;
    return AddTo(*current_, event, part, event.kind);
  }
  if (event.end_ns <= begin_ns) {
    if (closing_ == nullptr) return CountLost(LossId::kIntervalLate, event, part);
    ++closing_->stats().intervals;
    return AddTo(*closing_, event, part, event.kind);
  }
  if (closing_ != nullptr) {
    WaitPart earlier = part.TakeAllBut(event.end_ns - begin_ns);
    CountLost(LossId::kOpenWaitMissed, event, TakeMissed(begin_ns - closing_->begin_ns(), earlier));
    // Its thread had come back when the threads were listed.
    if (earlier.total_ns() != 0) AddTo(*closing_, event, earlier, WaitKind::kOpen);
  } else {
    CountLost(LossId::kOpenWaitMissed, event, TakeMissed(event.end_ns - begin_ns, part));
  }
  ++current_->stats().intervals;
  AddTo(*current_, event, part, event.kind);
}

// It belongs to the window that its instant lies in.
void Pipeline::On(const SampleEvent& event) {
  FindOrAddTarget(event.process, event.tid, event.comm);
  Window* window = current_.get();
  if (event.at_ns <= window->begin_ns()) window = closing_.get();
  if (window == nullptr) return current_->CountDrop(LossId::kSampleLate, 1, config_.window.oncpu_period_ns);
  ShareOutcome(event.cookie, *window);
  window->Add(event);
}

// By its weight, as if it were in the sample.
void Pipeline::CountLost(LossId loss, const IntervalEvent& event, const WaitPart& part) {
  if (part.total_ns() == 0) return;
  const RowSums sums =
      RowSums::OfWait(part.blocked_ns, part.runnable_ns, event.blocked_ns + event.runnable_ns, event.sample_ns);
  current_->CountDrop(loss, 1, sums.total_ns());
}

void Pipeline::AddTo(Window& window, const IntervalEvent& event, const WaitPart& part, WaitKind kind) {
  Interval interval = window.IntervalOf(event, part, kind);
  UseLiveStack(event, window, &interval);
  ShareOutcome(interval.cookie, window);
  for (const IntervalWaker& waker : interval.wakers) ShareOutcome(waker.cookie, window);
  window.Add(std::move(interval));
}

void Pipeline::ShareOutcome(uint64_t cookie, Window& window) {
  if (closing_ == nullptr || cookie == 0 || window.FindOutcome(cookie) != nullptr) return;
  const Window& other = &window == closing_.get() ? *current_ : *closing_;
  if (const UserStackEntry* outcome = other.FindOutcome(cookie)) window.Adopt(cookie, *outcome);
}

absl::Status Pipeline::Cut(uint64_t end_ns, const std::vector<WaitingThread>& threads) {
  if (end_ns <= current_->begin_ns()) return absl::InternalError("the scheduler's clock does not go on");
  ++windows_;
  live_.BeginWindow(threads);
  std::vector<WaitingThread> waiting;
  for (const WaitingThread& thread : threads) {
    const auto target = targets_.find(thread.process);
    if (target != targets_.end()) target->second->heard_in = windows_;
    // Who has come back meanwhile says so itself.
    if (thread.open.has_value() && !thread.came_back) waiting.push_back(thread);
  }
  ReadWaiting(waiting);
  AddOpenWaits(waiting, waiting);
  closing_ = std::exchange(current_, std::make_unique<Window>(end_ns, config_.window, kernel_stacks_, control_groups_));
  current_->Advance(now_ns_);
  close_by_ns_ = now_ns_ + config_.close_ns;
  return absl::OkStatus();
}

void Pipeline::AddOpenWaits(const std::vector<WaitingThread>& first, const std::vector<WaitingThread>& last) {
  const OpenWaits open = CloseOpenWaits(current_->begin_ns(), first, last, config_.open_waits, reported_);
  for (const KernelStackEvent& stack : open.kernel_stacks) current_->DefineKernelStack(stack);
  for (const IntervalEvent& event : open.intervals) {
    FindOrAddTarget(event.process, event.tid, event.comm);
    ++intervals_;
    ++current_->stats().intervals;
    AddTo(*current_, event, {.blocked_ns = event.blocked_ns, .runnable_ns = event.runnable_ns}, event.kind);
  }
  current_->stats().slept_throughout = open.sleepers;
  current_->CountDrop(LossId::kOpenWaitFiltered, open.filtered.count, open.filtered.ns);
  current_->CountDrop(LossId::kOpenWaitMissed, open.missed.count, open.missed.ns);
}

bool Pipeline::IsClosed(bool all_handled) const {
  return closing_ != nullptr && ((all_handled && closing_->has_all_stacks()) || now_ns_ >= close_by_ns_);
}

Profile Pipeline::TakeClosed(std::vector<Drop> drops) {
  Profile profile = FinishWindow(*closing_, std::move(drops));
  closing_ = nullptr;
  Forget();
  return profile;
}

Profile Pipeline::Finish(std::vector<Drop> drops) {
  GiveUpStale(UINT64_MAX);
  for (auto& [process, target] : targets_) {
    const NoUserStack reason = target->looking ? NoUserStack::kTargetStuck : NoUserStack::kOverload;
    while (!target->waiting.empty()) ResolveMissing(TakeWaiting(*target).cookie, reason);
  }
  return FinishWindow(*current_, std::move(drops));
}

Profile Pipeline::FinishWindow(Window& window, std::vector<Drop> drops) {
  for (const auto& [process, target] : targets_) window.Describe(target->Named());
  std::vector<Drop> counted = CountedDrops();
  for (Drop& drop : DropsSince(drops_before_, counted)) drops.push_back(std::move(drop));
  drops_before_ = std::move(counted);
  return window.Finish(std::move(drops));
}

std::vector<Drop> Pipeline::CountedDrops() const {
  return {DropOf(LossId::kUndecodable, undecodable_),
          DropOf(LossId::kTooManyProcesses, targets_over_limit_),
          DropOf(LossId::kTooManyWaitingStacks, waiting_over_limit_),
          DropOf(LossId::kTargetStuck, readers_.stats().stuck),
          DropOf(LossId::kTargetNotRead, readers_.stats().not_begun),
          DropOf(LossId::kReaderNotStarted, hooks_.readers->stats().not_started),
          DropOf(LossId::kCorruptTable, walker_.row_stats().corrupt_tables),
          DropOf(LossId::kBadTableEntry, walker_.row_stats().bad_entries),
          DropOf(LossId::kOldSFrame, walker_.row_stats().sframe_old_versions)};
}

void Pipeline::Describe(const ProcessInfo& process) {
  current_->Describe(process);
  if (closing_ != nullptr) closing_->Describe(process);
}

// All that happened before the cut has been handled. Of what was not listed then, and not heard of since, no more will
// come; should it after all, it is met as if it were new.
void Pipeline::Forget() {
  reported_.CountWindow();
  live_.ForgetOtherWindows();
  absl::erase_if(targets_, [this](const auto& entry) {
    const Target& target = *entry.second;
    return target.heard_in != windows_ && !target.looking && target.waiting.empty();
  });
  std::erase_if(exited_, [this](const ProcessKey& process) { return !targets_.contains(process); });
}

Pipeline::Kept Pipeline::kept() const {
  return {.targets = targets_.size(),
          .exited = exited_.size(),
          .kernel_stacks = kernel_stacks_.size(),
          .live_waits = live_.size(),
          .reported_waits = reported_.size()};
}

}  // namespace offcpu

#include "recorder/window_book.h"

#include <utility>

#include "profile/losses.h"

namespace offcpu {
namespace {

constexpr size_t kMaxReportedThreads = 1 << 17;

Profile FinishWindow(Window& window, const std::vector<ProcessInfo>& processes, std::vector<Loss> losses) {
  for (const ProcessInfo& process : processes) window.Describe(process);
  return window.Finish(std::move(losses));
}

}  // namespace

WindowBook::WindowBook(const WindowBookConfig& config, Stacks& user_stacks, Host& host, uint64_t now_ns)
    : config_(config),
      hash_key_(host.hash_key()),
      user_stacks_(user_stacks),
      kernel_stacks_(config.kernel_stacks, [&host](uint64_t id) { host.ForgetDefinition(id); }),
      control_groups_([&host](uint64_t id) { return host.ControlGroupPath(id); }),
      reported_(kMaxReportedThreads),
      now_ns_(now_ns) {
  current_ = WindowFrom(0);
}

std::unique_ptr<Window> WindowBook::WindowFrom(uint64_t begin_ns) {
  auto window = std::make_unique<Window>(begin_ns, config_.window, user_stacks_, kernel_stacks_, control_groups_);
  window->Advance(now_ns_);
  return window;
}

void WindowBook::Add(const IntervalEvent& event) {
  intervals_ += event.waits;
  if (event.waits > 1) return AddSum(event);
  const WaitPart all = {.blocked_ns = event.blocked_ns, .runnable_ns = event.runnable_ns, .end_ns = event.end_ns};
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
    CountLost(LossId::kOpenWaitMissed, event, earlier.TakeAllBut(begin_ns - closing_->begin_ns()));
    // Its thread had come back when the threads were listed.
    if (earlier.total_ns() != 0) AddTo(*closing_, event, earlier, WaitKind::kOpen);
  } else {
    CountLost(LossId::kOpenWaitMissed, event, part.TakeAllBut(event.end_ns - begin_ns));
  }
  ++current_->stats().intervals;
  AddTo(*current_, event, part, event.kind);
}

// None of its waits lies in two windows, nor has been open when one was cut.
void WindowBook::AddSum(const IntervalEvent& event) {
  Window* window = event.end_ns > current_->begin_ns() ? current_.get() : closing_.get();
  const WaitPart all = {.blocked_ns = event.blocked_ns, .runnable_ns = event.runnable_ns, .end_ns = event.end_ns};
  if (window == nullptr) return current_->CountLoss(LossId::kIntervalLate, event.waits, all.total_ns());
  window->stats().intervals += event.waits;
  AddTo(*window, event, all, event.kind);
}

// It belongs to the window that its instant lies in.
void WindowBook::Add(const SampleEvent& event) {
  Window* window = current_.get();
  if (event.at_ns <= window->begin_ns()) window = closing_.get();
  if (window == nullptr) return current_->CountLoss(LossId::kSampleLate, 1, config_.window.oncpu_period_ns);
  window->Add(event);
}

void WindowBook::Define(KernelStackEvent&& event) {
  ++current_->stats().kernel_stacks;
  bool agrees = true;
  // It may come after its first interval.
  for (Window* window : {current_.get(), closing_.get()}) {
    if (window != nullptr && window->HasKernelStack(event.id)) agrees &= window->DefineKernelStack(event);
  }
  agrees &= kernel_stacks_.Define(event.id, std::move(event.addresses));
  if (!agrees) VoidKernelStack(event.id);
}

void WindowBook::VoidKernelStack(uint64_t id) {
  kernel_stacks_.Void(id);
  for (Window* window : {current_.get(), closing_.get()}) {
    if (window != nullptr) window->UndefineKernelStack(id);
  }
}

// By its weight, as if it were in the sample.
void WindowBook::CountLost(LossId loss, const IntervalEvent& event, const WaitPart& part) {
  if (part.total_ns() == 0) return;
  const RowSums sums =
      RowSums::OfWait(part.blocked_ns, part.runnable_ns, event.blocked_ns + event.runnable_ns, event.sample_ns);
  current_->CountLoss(loss, 1, sums.total_ns());
}

void WindowBook::AddTo(Window& window, const IntervalEvent& event, const WaitPart& part, WaitKind kind) {
  window.Add(event, user_stacks_.FindFor(event), part, kind);
}

void WindowBook::TakeInNews() {
  for (const StackNews& news : user_stacks_.TakeNews()) {
    current_->TakeIn(news);
    if (closing_ != nullptr) closing_->TakeIn(news);
  }
}

void WindowBook::Describe(const ProcessInfo& process) {
  current_->Describe(process);
  if (closing_ != nullptr) closing_->Describe(process);
}

void WindowBook::Tick(uint64_t now_ns) {
  now_ns_ = now_ns;
  current_->Advance(now_ns);
  if (closing_ != nullptr) closing_->Advance(now_ns);
}

std::vector<IntervalEvent> WindowBook::AddOpenWaits(const std::vector<WaitingThread>& first,
                                                    const std::vector<WaitingThread>& last) {
  OpenWaits open = CloseOpenWaits(current_->begin_ns(), first, last, config_.open_waits, hash_key_, reported_);
  for (const KernelStackEvent& stack : open.kernel_stacks) {
    if (kernel_stacks_.IsVoid(stack.id)) continue;
    if (!current_->DefineKernelStack(stack)) VoidKernelStack(stack.id);
  }
  for (const IntervalEvent& event : open.intervals) {
    const WaitPart all = {.blocked_ns = event.blocked_ns, .runnable_ns = event.runnable_ns, .end_ns = event.end_ns};
    AddTo(*current_, event, all, event.kind);
  }
  intervals_ += open.intervals.size();
  current_->stats().intervals += open.intervals.size();
  current_->stats().slept_throughout = open.sleepers;
  current_->CountLoss(LossId::kOpenWaitFiltered, open.filtered.count, open.filtered.ns);
  current_->CountLoss(LossId::kOpenWaitMissed, open.missed.count, open.missed.ns);
  return std::move(open.intervals);
}

void WindowBook::Cut(uint64_t end_ns) {
  closing_ = std::exchange(current_, WindowFrom(end_ns));
  close_by_ns_ = now_ns_ + config_.close_ns;
}

bool WindowBook::IsClosed(bool all_handled) const {
  return closing_ != nullptr && ((all_handled && closing_->has_all_stacks()) || now_ns_ >= close_by_ns_);
}

Profile WindowBook::TakeClosed(const std::vector<ProcessInfo>& processes, std::vector<Loss> losses) {
  Profile profile = FinishWindow(*closing_, processes, std::move(losses));
  closing_ = nullptr;
  reported_.CountWindow();
  return profile;
}

Profile WindowBook::Finish(const std::vector<ProcessInfo>& processes, std::vector<Loss> losses) {
  return FinishWindow(*current_, processes, std::move(losses));
}

}  // namespace offcpu

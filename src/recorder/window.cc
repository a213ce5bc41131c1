#include "recorder/window.h"

#include <algorithm>
#include <string>
#include <utility>

namespace offcpu {
namespace {

constexpr size_t kMaxCookieThreads = 1 << 17;
constexpr size_t kMaxControlGroups = 1 << 14;

// Kernel threads, and processes outside of our pid namespace.
std::string NameIfNeverLookedAt(const WakerEvent& waker) {
  if (waker.process.pid == 0) return "outside of the container";
  return waker.missing == NoUserStack::kKernelThread ? waker.comm : "";
}

}  // namespace

Window::Window(uint64_t begin_ns, const WindowConfig& config, const Stacks& user_stacks, KernelStacks& kernel_stacks,
               ControlGroups& control_groups)
    : begin_ns_(begin_ns),
      config_(config),
      user_stacks_(user_stacks),
      kernel_stacks_(kernel_stacks),
      control_groups_(control_groups),
      stacks_({}),
      table_({.bucket_ns = config.bucket_ns}),
      joiner_({.wait_ns = config.join_ns}, stacks_, table_) {}

void Window::Add(const IntervalEvent& event, const EventStack& stack, const WaitPart& part, WaitKind kind) {
  Interval interval = IntervalOf(event, part, kind);
  interval.cookie = stack.cookie;
  interval.missing = stack.missing;
  if (stack.stack != nullptr) UseStack(stack, interval);
  if (stack.id != 0) {
    stats_.walked_at_switch += event.waits;
    if (event.waits > 1) stats_.summed_at_switch += event.waits;
  }
  Join(std::move(interval));
}

Interval Window::IntervalOf(const IntervalEvent& event, const WaitPart& part, WaitKind kind) {
  CountCookie(event.tid, event.cookie);
  stats_.sample_most_ns = std::max(stats_.sample_most_ns, event.sample_ns);
  if (event.waits > 1) return SumOf(event, kind);
  // All of the wait, in the window that it ends in.
  if (kind != WaitKind::kOpen)
    stats_.run_queue.Add(event.runnable_ns, RowSums::OfWait(event.blocked_ns, event.runnable_ns, 0, event.sample_ns));
  const RowSums sums =
      RowSums::OfWait(part.blocked_ns, part.runnable_ns, event.blocked_ns + event.runnable_ns, event.sample_ns);
  return {.row = {KeyOf(event, InternKernelStack(event.kernel_stack), kind), sums},
          .wakers = kind == WaitKind::kOpen ? std::vector<IntervalWaker>() : WakersOf(event),
          .when = {{.end_ns = part.end_ns,
                    .blocked_ns = part.blocked_ns,
                    .runnable_ns = part.runnable_ns,
                    .sums = TimeBucket::Of(0, sums)}}};
}

Interval Window::SumOf(const IntervalEvent& event, WaitKind kind) {
  const RowSums sums = {.count = event.waits,
                        .blocked_ns = event.blocked_ns,
                        .runnable_ns = event.runnable_ns,
                        .max_ns = event.longest_ns};
  stats_.run_queue.Add(event.longest_runnable_ns, sums);
  return {.row = {KeyOf(event, InternKernelStack(event.kernel_stack), kind), sums},
          .wakers = {},
          .when = {{.end_ns = event.end_ns, .sums = TimeBucket::Of(0, sums)}}};
}

void Window::UseStack(const EventStack& stack, Interval& interval) {
  if (stack.id == 0) {
    interval.row.user_stack = stacks_.InternUser(*stack.stack);
  } else {
    const auto [known, is_new] = user_stack_by_id_.try_emplace(stack.id);
    if (is_new) known->second = stacks_.InternUser(*stack.stack);
    interval.row.user_stack = known->second;
  }
  interval.has_user_stack = true;
}

void Window::Join(Interval&& interval) {
  const auto join = [this](uint64_t& cookie, NoUserStack missing, uint32_t& user_stack, bool& has_user_stack) {
    if (cookie == 0 || missing != NoUserStack::kNone) return;
    const StackOutcome* outcome = user_stacks_.Find(cookie);
    if (outcome == nullptr) return;
    user_stack = IndexOf(*outcome);
    has_user_stack = true;
    cookie = 0;
  };
  join(interval.cookie, interval.missing, interval.row.user_stack, interval.has_user_stack);
  for (IntervalWaker& waker : interval.wakers)
    join(waker.cookie, waker.missing, waker.in_profile.user_stack, waker.has_user_stack);
  joiner_.Add(std::move(interval));
}

uint32_t Window::IndexOf(const StackOutcome& outcome) {
  return outcome.stack != nullptr ? stacks_.InternUser(outcome.stack->stack) : stacks_.InternMissing(outcome.missing);
}

void Window::TakeIn(const StackNews& news) {
  if (joiner_.IsWaitedFor(news.cookie)) joiner_.Resolve(news.cookie, IndexOf(news.outcome));
}

template <typename AnyEvent>
RowKey Window::KeyOf(const AnyEvent& event, uint32_t kernel_stack, WaitKind kind) {
  return {.process = table_.InternProcess({.key = event.process}),
          .tid = config_.per_thread ? event.tid : 0,
          .comm = table_.InternComm(event.comm),
          .kernel_stack = kernel_stack,
          .kind = kind,
          .syscall = event.syscall,
          .control_group = InternControlGroup(event.control_group)};
}

std::vector<IntervalWaker> Window::WakersOf(const IntervalEvent& event) {
  std::vector<IntervalWaker> wakers;
  for (const WakerEvent& waker : event.wakers) {
    IntervalWaker& known = wakers.emplace_back();
    known.cookie = waker.cookie;
    known.missing = waker.missing;
    known.in_profile.interrupt = waker.interrupt;
    known.in_profile.kernel_stack = InternKernelStack(waker.kernel_stack);
    if (waker.interrupt) continue;
    known.in_profile.process = table_.InternProcess({.key = waker.process, .name = NameIfNeverLookedAt(waker)});
    known.in_profile.comm = table_.InternComm(waker.comm);
  }
  return wakers;
}

uint32_t Window::InternControlGroup(uint64_t id) {
  const auto known = control_group_by_id_.find(id);
  if (known != control_group_by_id_.end()) return known->second;
  if (control_group_by_id_.size() >= kMaxControlGroups) control_group_by_id_.clear();
  const std::string& path = control_groups_.Path(id);
  const uint32_t index = table_.InternControlGroup(path);
  if (!path.empty()) control_group_by_id_.emplace(id, index);
  return index;
}

void Window::Add(const SampleEvent& event) {
  ++stats_.oncpu_samples;
  CountCookie(event.tid, event.cookie);
  const uint32_t kernel_stack = event.in_user ? stacks_.InternUserMode() : InternKernelStack(event.kernel_stack);
  const RowSums sums = RowSums::OfSample(config_.oncpu_period_ns);
  Join({.row = {KeyOf(event, kernel_stack, WaitKind::kRunning), sums},
        .cookie = event.cookie,
        .missing = event.missing,
        .wakers = {},
        .when = {{.end_ns = event.at_ns + 1, .sums = TimeBucket::Of(0, sums)}}});
}

void Window::CountCookie(int32_t tid, uint64_t cookie) {
  if (cookie == 0) return;
  if (last_cookie_.size() >= kMaxCookieThreads) last_cookie_.clear();
  uint64_t& last = last_cookie_[tid];
  if (last != cookie) ++stats_.cookies;
  last = cookie;
}

uint32_t Window::InternKernelStack(uint64_t id) {
  const bool is_new = !stacks_.HasKernel(id);
  const uint32_t index = stacks_.InternKernel(id);
  if (!is_new) return index;
  if (const std::vector<uint64_t>* frames = kernel_stacks_.Find(id)) stacks_.DefineKernel(id, *frames);
  return index;
}

void Window::CountLoss(LossId id, uint64_t count, uint64_t ns) {
  if (count == 0) return;
  const std::string_view reason = InfoOf(id).name;
  const auto is_it = [reason](const Loss& loss) { return loss.reason == reason; };
  const auto known = std::find_if(losses_.begin(), losses_.end(), is_it);
  Loss& loss = known != losses_.end() ? *known : losses_.emplace_back(Loss{.reason = std::string(reason)});
  loss.count += count;
  loss.ns += ns;
}

Profile Window::Finish(std::vector<Loss> losses) {
  joiner_.Flush();
  losses.insert(losses.end(), losses_.begin(), losses_.end());
  stats_.losses = std::move(losses);
  return table_.Finish(stacks_, std::move(stats_));
}

std::vector<Loss> LossesSince(const std::vector<Loss>& before, const std::vector<Loss>& now) {
  std::vector<Loss> since;
  for (const Loss& loss : now) {
    const auto is_it = [&loss](const Loss& other) { return other.reason == loss.reason; };
    const auto known = std::find_if(before.begin(), before.end(), is_it);
    Loss change = loss;
    if (known != before.end()) change = {loss.reason, loss.count - known->count, loss.ns - known->ns};
    if (change.count != 0 || change.ns != 0) since.push_back(std::move(change));
  }
  return since;
}

}  // namespace offcpu

#include "recorder/stacks.h"

#include <algorithm>

namespace offcpu {

void Stacks::Resolve(uint64_t cookie, const UserStack& stack) {
  const StackOutcome outcome = {.stack = pool_.Share(stack)};
  Keep(cookie, outcome);
  const LiveWait* wait = waits_.Resolve(cookie, stack);
  if (wait != nullptr && wait->cookie != cookie) Keep(wait->cookie, outcome);
}

void Stacks::Fail(uint64_t cookie, NoUserStack reason) {
  Keep(cookie, {.missing = reason});
  waits_.Fail(cookie, reason);
}

const StackOutcome* Stacks::Find(uint64_t cookie) const {
  const auto found = outcomes_.find(cookie);
  return found != outcomes_.end() ? &found->second : nullptr;
}

void Stacks::Keep(uint64_t cookie, const StackOutcome& outcome) {
  if (cookie == 0 || !outcomes_.try_emplace(cookie, outcome).second) return;
  ages_.push_back({.cookie = cookie, .made_ns = now_ns_});
  news_.push_back({.cookie = cookie, .outcome = outcome});
  while (ages_.size() > limits_.outcomes || (pool_.frames() > limits_.frames && !ages_.empty())) ForgetOldest();
}

void Stacks::ForgetOldest() {
  outcomes_.erase(ages_.front().cookie);
  ages_.pop_front();
}

// A stack that was walked where the wait has ended is that of the wait while it lasted, too.
EventStack Stacks::FindFor(const IntervalEvent& event) {
  EventStack found = {.cookie = event.cookie, .missing = event.missing};
  LiveWait* wait = event.waits == 1 ? waits_.Find(event.process, event.tid, event.switches) : nullptr;
  if (wait != nullptr) found = FindForWait(event, *wait);
  if (event.user_stack == 0) return found;
  const UserStack* walked = known_.Find(event.user_stack);
  if (walked == nullptr) return found;
  if (wait != nullptr && wait->stack == nullptr) Resolve(wait->cookie, *walked);
  return {.id = event.user_stack, .stack = walked};
}

// A wait that is over has its own capture on the way, which serves the windows that it was open in too; one that is not
// has nothing else to hope for.
EventStack Stacks::FindForWait(const IntervalEvent& event, LiveWait& wait) {
  if (wait.stack != nullptr) return {.stack = &wait.stack->stack};
  if (event.kind != WaitKind::kOpen) {
    if (event.cookie != 0 && event.cookie != wait.cookie) waits_.Link(wait, event.tid, event.cookie);
    return {.cookie = event.cookie, .missing = event.missing};
  }
  if (wait.failed != NoUserStack::kNone) return {.cookie = event.cookie, .missing = wait.failed};
  return {.cookie = wait.cookie};
}

void Stacks::Advance(uint64_t now_ns) {
  now_ns_ = std::max(now_ns_, now_ns);
  while (!ages_.empty() && now_ns_ - ages_.front().made_ns > limits_.remember_ns) ForgetOldest();
}

void Stacks::BeginWindow(const std::vector<WaitingThread>& threads) {
  known_.BeginWindow();
  waits_.BeginWindow(threads);
}

}  // namespace offcpu

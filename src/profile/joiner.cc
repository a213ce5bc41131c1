#include "profile/joiner.h"

#include <algorithm>
#include <iterator>

namespace offcpu {
namespace {

// Of a list node and a map slot, beside the stay itself.
constexpr size_t kStayOverhead = 64;

// How far back an interval looks for a row of its key. A stay that blocks in a loop repeats within a few stacks; a
// bound keeps a stay of very many different ones from costing the square of their number.
constexpr size_t kLookBack = 32;

bool SameKey(const ProfileRow& a, const ProfileRow& b) {
  return a.process == b.process && a.tid == b.tid && a.comm == b.comm && a.kernel_stack == b.kernel_stack &&
         a.kind == b.kind && a.syscall == b.syscall;
}

}  // namespace

Joiner::Joiner(const Limits& limits, StackTable& stacks, OffCpuTable& table)
    : limits_(limits), stacks_(stacks), table_(table) {}

size_t Joiner::BytesOf(const Stay& stay) {
  return sizeof(Stay) + kStayOverhead + stay.rows.capacity() * sizeof(ProfileRow);
}

void Joiner::Add(const Interval& interval) {
  if (interval.cookie == 0 || interval.missing != NoUserStack::kNone) {
    NoUserStack reason = interval.missing == NoUserStack::kNone ? NoUserStack::kLost : interval.missing;
    table_.Add(interval, stacks_.InternMissing(reason));
    return;
  }
  if (const std::optional<uint32_t> outcome = FindOutcome(interval.cookie)) {
    table_.Add(interval, *outcome);
    ++counters_.joined.intervals;
    counters_.joined.ns += interval.blocked_ns + interval.runnable_ns + interval.cpu_ns;
    return;
  }
  Wait(OffCpuTable::RowOf(interval, 0), FindOrAddStay(interval.cookie));
  while (!stays_.empty() && (stays_.size() > limits_.stays || bytes_ > limits_.bytes)) {
    GiveUpOldest(NoUserStack::kOverload, counters_.evicted);
  }
}

Joiner::Stay& Joiner::FindOrAddStay(uint64_t cookie) {
  auto [it, inserted] = stay_by_cookie_.try_emplace(cookie);
  if (inserted) {
    stays_.push_back({.cookie = cookie, .touched_ns = now_ns_, .rows = {}});
    it->second = std::prev(stays_.end());
    bytes_ += BytesOf(stays_.back());
  } else {
    stays_.splice(stays_.end(), stays_, it->second);
    it->second->touched_ns = now_ns_;
  }
  return stays_.back();
}

void Joiner::Wait(const ProfileRow& row, Stay& stay) {
  auto look_back = stay.rows.rbegin() + static_cast<ptrdiff_t>(std::min(stay.rows.size(), kLookBack));
  auto same = std::find_if(stay.rows.rbegin(), look_back, [&](const ProfileRow& other) { return SameKey(row, other); });
  if (same != look_back) {
    OffCpuTable::AddSums(row, *same);
    return;
  }
  bytes_ -= BytesOf(stay);
  stay.rows.push_back(row);
  bytes_ += BytesOf(stay);
}

void Joiner::Resolve(uint64_t cookie, uint32_t user_stack) {
  if (cookie == 0 || !outcome_by_cookie_.try_emplace(cookie, user_stack).second) return;
  outcomes_.push_back({.cookie = cookie, .made_ns = now_ns_});
  while (outcomes_.size() > limits_.outcomes) ForgetOldestOutcome();
  auto it = stay_by_cookie_.find(cookie);
  if (it != stay_by_cookie_.end()) Release(it->second, user_stack, counters_.joined);
}

std::optional<uint32_t> Joiner::FindOutcome(uint64_t cookie) const {
  const auto found = outcome_by_cookie_.find(cookie);
  if (found == outcome_by_cookie_.end()) return std::nullopt;
  return found->second;
}

void Joiner::Release(std::list<Stay>::iterator stay, uint32_t user_stack, Counter& counter) {
  for (ProfileRow& row : stay->rows) {
    row.user_stack = user_stack;
    table_.Add(row);
    counter.intervals += row.count + row.samples;
    counter.ns += row.wall_ns();
  }
  bytes_ -= BytesOf(*stay);
  stay_by_cookie_.erase(stay->cookie);
  stays_.erase(stay);
}

void Joiner::GiveUpOldest(NoUserStack reason, Counter& counter) {
  Release(stays_.begin(), stacks_.InternMissing(reason), counter);
}

void Joiner::ForgetOldestOutcome() {
  outcome_by_cookie_.erase(outcomes_.front().cookie);
  outcomes_.pop_front();
}

void Joiner::Advance(uint64_t now_ns, NoUserStack reason) {
  now_ns_ = std::max(now_ns_, now_ns);
  while (!stays_.empty() && now_ns_ - stays_.front().touched_ns > limits_.wait_ns) {
    GiveUpOldest(reason, counters_.expired);
  }
  while (!outcomes_.empty() && now_ns_ - outcomes_.front().made_ns > limits_.remember_ns) ForgetOldestOutcome();
}

void Joiner::Flush(NoUserStack reason) {
  while (!stays_.empty()) GiveUpOldest(reason, counters_.flushed);
}

}  // namespace offcpu

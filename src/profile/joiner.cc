#include "profile/joiner.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace offcpu {
namespace {

// What a list node and a map slot take, beside the kernel entry itself.
constexpr size_t kEntryOverhead = 64;

// How far back an interval looks for a row of its key. A kernel entry that blocks in a loop repeats within a few
// stacks; a bound keeps a kernel entry of very many different ones from costing the square of their number.
constexpr size_t kLookBack = 32;

// Are they one row, and wait for the same? A stack that is not known yet is 0 in the key.
bool SameKey(const Interval& a, const Interval& b) {
  return a.row.key() == b.row.key() && a.cookie == b.cookie && a.wakers == b.wakers;
}

// Returns how many it has more. Which of them came first in a bucket does not matter.
size_t AddStretches(const Stretches& from, uint64_t bucket_ns, Stretches& to) {
  const size_t before = to.size();
  const auto is_in_one_bucket = [bucket_ns](uint64_t begin_ns, uint64_t end_ns) {
    return begin_ns / bucket_ns == BucketOfEnd(end_ns, bucket_ns);
  };
  for (const Stretch& stretch : from) {
    Stretch* last = to.empty() ? nullptr : &to.back();
    if (last != nullptr && is_in_one_bucket(std::min(stretch.begin_ns(), last->begin_ns()), last->end_ns) &&
        is_in_one_bucket(last->begin_ns(), stretch.end_ns)) {
      last->sums.Add(stretch.sums);
    } else {
      to.push_back(stretch);
    }
  }
  return to.size() - before;
}

// Calls visit(cookie, user stack) for each stack that it has; cookie 0: it is known.
template <typename AnyInterval, typename Visit>
void VisitStacks(AnyInterval& interval, Visit visit) {
  visit(interval.cookie, interval.row.user_stack);
  for (auto& waker : interval.wakers) visit(waker.cookie, waker.in_profile.user_stack);
}

}  // namespace

Joiner::Joiner(const Limits& limits, StackTable& stacks, OffCpuTable& table)
    : limits_(limits), stacks_(stacks), table_(table) {}

size_t Joiner::BytesOf(const KernelEntry& entry) {
  return sizeof(KernelEntry) + kEntryOverhead + entry.intervals.capacity() * sizeof(Interval) +
         entry.wakers * sizeof(IntervalWaker) + entry.stretches * sizeof(Stretch);
}

void Joiner::GiveUpMissing(Interval& interval) {
  const auto give_up = [this](NoUserStack& missing, uint64_t& cookie, uint32_t& user_stack) {
    const NoUserStack reason = std::exchange(missing, NoUserStack::kNone);
    if (cookie != 0 && reason == NoUserStack::kNone) return;
    cookie = 0;
    user_stack = stacks_.InternMissing(reason == NoUserStack::kNone ? NoUserStack::kLost : reason);
  };
  if (!interval.has_user_stack) give_up(interval.missing, interval.cookie, interval.row.user_stack);
  for (IntervalWaker& waker : interval.wakers) {
    if (!waker.has_user_stack) give_up(waker.missing, waker.cookie, waker.in_profile.user_stack);
  }
}

void Joiner::Add(Interval interval) {
  GiveUpMissing(interval);
  Settle(std::move(interval));
  while (!entries_.empty() && (entries_.size() > limits_.kernel_entries || bytes_ > limits_.bytes)) {
    GiveUpOldest(NoUserStack::kOverload);
  }
}

void Joiner::Settle(Interval&& interval) {
  ProfileRow& row = interval.row;
  uint64_t unknown = 0;
  VisitStacks(interval, [&unknown](uint64_t cookie, uint32_t) {
    if (unknown == 0) unknown = cookie;
  });
  if (unknown != 0) return Wait(std::move(interval), FindOrAddEntry(unknown));
  if (!interval.wakers.empty()) {
    WakerChain chain;
    for (const IntervalWaker& waker : interval.wakers) chain.push_back(waker.in_profile);
    row.waker = table_.InternWaker(chain);
  }
  table_.Add(row, interval.when);
}

Joiner::KernelEntry& Joiner::FindOrAddEntry(uint64_t cookie) {
  auto [it, inserted] = entry_by_cookie_.try_emplace(cookie);
  if (inserted) {
    entries_.push_back({.cookie = cookie, .touched_ns = now_ns_, .intervals = {}, .wakers = 0, .stretches = 0});
    it->second = std::prev(entries_.end());
    bytes_ += BytesOf(entries_.back());
  } else {
    entries_.splice(entries_.end(), entries_, it->second);
    it->second->touched_ns = now_ns_;
  }
  return entries_.back();
}

void Joiner::Wait(Interval&& interval, KernelEntry& entry) {
  std::vector<Interval>& waiting = entry.intervals;
  const auto look_back = waiting.rbegin() + static_cast<ptrdiff_t>(std::min(waiting.size(), kLookBack));
  const auto same = std::find_if(waiting.rbegin(), look_back,
                                 [&interval](const Interval& other) { return SameKey(interval, other); });
  bytes_ -= BytesOf(entry);
  if (same != look_back) {
    same->row.Add(interval.row);
    entry.stretches += AddStretches(interval.when, table_.bucket_ns(), same->when);
    bytes_ += BytesOf(entry);
    return;
  }
  Want(interval, entry.cookie);
  entry.wakers += interval.wakers.size();
  entry.stretches += interval.when.size();
  waiting.push_back(std::move(interval));
  bytes_ += BytesOf(entry);
}

void Joiner::Want(const Interval& interval, uint64_t waits_for) {
  if (interval.wakers.empty()) return;
  VisitStacks(interval, [&](uint64_t cookie, uint32_t) {
    if (cookie != 0 && cookie != waits_for) ++wanted_[cookie].stacks;
  });
}

void Joiner::TakeWanted(Interval& interval, uint64_t waited_for) {
  if (interval.wakers.empty()) return;
  VisitStacks(interval, [&](uint64_t& cookie, uint32_t& user_stack) {
    if (cookie == 0 || cookie == waited_for) return;
    const auto wanted = wanted_.find(cookie);
    if (wanted == wanted_.end()) return;
    const std::optional<uint32_t> outcome = wanted->second.user_stack;
    if (--wanted->second.stacks == 0) wanted_.erase(wanted);
    if (!outcome.has_value()) return;
    cookie = 0;
    user_stack = *outcome;
  });
}

void Joiner::Resolve(uint64_t cookie, uint32_t user_stack) {
  const auto wanted = wanted_.find(cookie);
  if (wanted != wanted_.end() && !wanted->second.user_stack.has_value()) wanted->second.user_stack = user_stack;
  const auto entry = entry_by_cookie_.find(cookie);
  if (entry != entry_by_cookie_.end()) Release(entry->second, user_stack);
}

void Joiner::Release(std::list<KernelEntry>::iterator entry, uint32_t user_stack) {
  const uint64_t waited_for = entry->cookie;
  bytes_ -= BytesOf(*entry);
  std::vector<Interval> intervals = std::move(entry->intervals);
  entry_by_cookie_.erase(waited_for);
  entries_.erase(entry);
  for (Interval& interval : intervals) {
    TakeWanted(interval, waited_for);
    VisitStacks(interval, [&](uint64_t& cookie, uint32_t& stack) {
      if (cookie != waited_for) return;
      cookie = 0;
      stack = user_stack;
    });
    Settle(std::move(interval));
  }
}

void Joiner::GiveUpOldest(NoUserStack reason) { Release(entries_.begin(), stacks_.InternMissing(reason)); }

void Joiner::Advance(uint64_t now_ns, NoUserStack reason) {
  now_ns_ = std::max(now_ns_, now_ns);
  while (!entries_.empty() && now_ns_ - entries_.front().touched_ns > limits_.wait_ns) GiveUpOldest(reason);
}

void Joiner::Flush(NoUserStack reason) {
  while (!entries_.empty()) GiveUpOldest(reason);
}

}  // namespace offcpu

// The room in which intervals wait for the user stacks of their kernel entries. An interval waits under its cookie; the
// outcome of that cookie releases all that wait. Who is known to have ended the interval has a kernel entry of its own:
// the interval waits under one cookie at a time until it has the stacks of all. Every interval reaches the table
// exactly once, with its stacks or with the reasons why it has none.
//
// Waiting is bounded in stays, in bytes and in time; time is what the caller says in Advance, and does not move
// otherwise. One thread; no locks, no I/O. Remembers no outcome for intervals to come: an interval that is added must
// have the stacks that are known already. Does not walk and does not know what a stack is.
#ifndef OFFCPU_PROFILE_JOINER_H_
#define OFFCPU_PROFILE_JOINER_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profile/interval.h"
#include "profile/off_cpu_table.h"
#include "profile/stack_table.h"

namespace offcpu {

class Joiner {
 public:
  struct Limits {
    size_t kernel_entries = 1u << 17;   // that wait at one time
    size_t bytes = 64u << 20;           // that they take
    uint64_t wait_ns = 10'000'000'000;  // after the last interval of a kernel entry
  };

  // Both tables must outlive the joiner.
  Joiner(const Limits& limits, StackTable& stacks, OffCpuTable& table);
  Joiner(const Joiner&) = delete;
  Joiner& operator=(const Joiner&) = delete;

  // If there is no room for all that wait, the oldest are given up, for kOverload.
  void Add(Interval interval);
  // `user_stack` is an index of the stack table: of a stack, or of the reason why the capture yielded none. A cookie's
  // first outcome stays with those that wait.
  void Resolve(uint64_t cookie, uint32_t user_stack);
  // Lets time pass: gives up what has waited too long. A time before the last one is ignored.
  void Advance(uint64_t now_ns, NoUserStack reason = NoUserStack::kLost);
  // Gives up all that waits.
  void Flush(NoUserStack reason = NoUserStack::kPending);

  // Also by an interval that waits for another one first.
  bool IsWaitedFor(uint64_t cookie) const { return entry_by_cookie_.contains(cookie) || wanted_.contains(cookie); }

  size_t waiting_entries() const { return entries_.size(); }
  size_t waiting_bytes() const { return bytes_; }

 private:
  struct KernelEntry {
    uint64_t cookie;
    uint64_t touched_ns;
    std::vector<Interval> intervals;  // those of one key are added up: they would be one row anyway
    size_t wakers;                    // of all intervals, as the stretches are
    size_t stretches;
  };
  // A cookie that is wanted by intervals which wait for another one first.
  struct Wanted {
    uint32_t stacks = 0;                 // of them
    std::optional<uint32_t> user_stack;  // its outcome, if that came meanwhile
  };

  static size_t BytesOf(const KernelEntry& entry);
  KernelEntry& FindOrAddEntry(uint64_t cookie);
  // Gives it the reasons why stacks will not come in place of those stacks.
  void GiveUpMissing(Interval& interval);
  // Into the table if all of its stacks are known, else it waits.
  void Settle(Interval&& interval);
  void Wait(Interval&& interval, KernelEntry& entry);
  // The interval waits for `waits_for`, and wants its other cookies too.
  void Want(const Interval& interval, uint64_t waits_for);
  // It waits for `waited_for` no more. Takes the outcomes of the others that came meanwhile.
  void TakeWanted(Interval& interval, uint64_t waited_for);
  void Release(std::list<KernelEntry>::iterator entry, uint32_t user_stack);
  void GiveUpOldest(NoUserStack reason);

  Limits limits_;
  StackTable& stacks_;
  OffCpuTable& table_;
  uint64_t now_ns_ = 0;
  size_t bytes_ = 0;
  std::list<KernelEntry> entries_;  // by touched_ns
  absl::flat_hash_map<uint64_t, std::list<KernelEntry>::iterator> entry_by_cookie_;
  absl::flat_hash_map<uint64_t, Wanted> wanted_;  // by cookie
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_JOINER_H_

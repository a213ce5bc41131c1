// Which user stack a wait has: the one place that knows it, for every window and for the live path. It is passive:
// others report to it and ask it, and it calls nobody back.
//
// A stack comes under one of three names, and each name is looked up in one place:
// * the cookie of a kernel entry: a capture, or the reason why there is none, is its outcome. The first one stays.
// * the wait, a thread and the number of its switches, if the stack was read from outside (live_waits.h). It goes the
//   way of a capture, under a cookie of the wait. If the wait ends before it is read, the capture of its kernel entry
//   brings the stack of both cookies.
// * the id of a walk that a BPF program has made (known_stacks.h). There is no cookie then.
//
// The lifetime of an outcome: it begins when its capture is walked, when the capture fails, or when it is given up. It
// answers intervals and samples that come after it: those of the same kernel entry that another ring brought later,
// those of another window, and those whose threads the thread of the kernel entry has woken. It does not end with a
// window, because a kernel entry may have intervals on both sides of a cut. It is forgotten when it is as old as Limits
// says, or when newer ones take its room; an interval that comes even later waits in vain, and says so. For a wait that
// goes on, a stack that comes after a reason counts, and is kept as long as the wait is known, whatever becomes of the
// outcome of its cookie.
//
// What waits for an outcome waits in the windows (joiner.h). They get new outcomes as news, in the order in which these
// came: see WindowBook::TakeInNews.
//
// Bounded: outcomes in number, frames and time, waits in threads, ids in number and frames. One thread.
#ifndef OFFCPU_RECORDER_STACKS_H_
#define OFFCPU_RECORDER_STACKS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "bpf_programs/events.h"
#include "bpf_programs/waiting_thread.h"
#include "profile/profile.h"
#include "recorder/host.h"
#include "recorder/known_stacks.h"
#include "recorder/live_waits.h"
#include "recorder/stack_pool.h"

namespace offcpu {

struct StackOutcome {
  SharedStack stack;                         // null if there is none
  NoUserStack missing = NoUserStack::kNone;  // and why
};

struct StackNews {
  uint64_t cookie = 0;
  StackOutcome outcome;
};

// What is known of the user stack of an event's wait: the stack, or how it is waited for.
struct EventStack {
  uint64_t id = 0;                           // of `stack`, if a BPF program has walked it
  const UserStack* stack = nullptr;          // valid until the next call of Stacks
  uint64_t cookie = 0;                       // else that which it comes under
  NoUserStack missing = NoUserStack::kNone;  // else why it does not come
};

class Stacks {
 public:
  struct Limits {
    size_t outcomes = 1 << 17;  // that are remembered
    size_t frames = 1 << 20;    // of their stacks, equal ones counted once
    uint64_t remember_ns = 10'000'000'000;
    size_t waits = 1 << 17;  // all are forgotten when there are more
  };

  // `host` must outlive it. `now_ns`: as of Advance.
  Stacks(const Limits& limits, Host& host, uint64_t now_ns)
      : limits_(limits), waits_(limits.waits), known_(host), now_ns_(now_ns) {}
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  // The outcome of a cookie. If the cookie belongs to a wait, the stack is that of the wait, under each of its cookies.
  void Resolve(uint64_t cookie, const UserStack& stack);
  void Fail(uint64_t cookie, NoUserStack reason);
  // Null if it is not known. Valid until the next Resolve, Fail or Advance.
  const StackOutcome* Find(uint64_t cookie) const;
  // Outcomes that nobody has taken yet.
  std::vector<StackNews> TakeNews() { return std::exchange(news_, {}); }

  // The stack of the event's wait, by whatever name it is known best.
  EventStack FindFor(const IntervalEvent& event);

  // Waits whose stacks are read from outside: see LiveWaits.
  LiveWait* BeginWait(const WaitingThread& thread) { return waits_.Begin(thread); }
  LiveWait* FindWait(const WaitingThread& thread) { return waits_.Find(thread.process, thread.tid, thread.switches); }
  size_t waits() const { return waits_.size(); }

  // Walks of BPF programs.
  KnownStacks& known() { return known_; }
  const KnownStacks& known() const { return known_; }

  // Lets time pass. Any clock that does not go back.
  void Advance(uint64_t now_ns);
  // Another window begins, with these threads. Waits of others are forgotten once the window before it is closed.
  void BeginWindow(const std::vector<WaitingThread>& threads);
  void ForgetOtherWindows() { waits_.ForgetOtherWindows(); }

  size_t outcomes() const { return outcomes_.size(); }

 private:
  struct Age {
    uint64_t cookie = 0;
    uint64_t made_ns = 0;
  };

  void Keep(uint64_t cookie, const StackOutcome& outcome);
  EventStack FindForWait(const IntervalEvent& event, LiveWait& wait);
  void ForgetOldest();

  const Limits limits_;
  StackPool pool_;
  absl::flat_hash_map<uint64_t, StackOutcome> outcomes_;  // by cookie
  std::deque<Age> ages_;                                  // of all outcomes, the oldest first
  std::vector<StackNews> news_;
  LiveWaits waits_;
  KnownStacks known_;
  uint64_t now_ns_;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_STACKS_H_

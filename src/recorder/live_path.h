// The live path: stacks of threads that wait and may never come back, read from outside. Each serves the wait that its
// thread is in, whenever that ends, and as it is at the end of every window until then. A stack that was read goes the
// way of a capture, under a cookie of the wait.
//
// One thread. The reading runs on reader threads, as a job of the process it is about. Does not walk, and chooses
// nobody: whose stacks are wanted is the caller's affair.
#ifndef OFFCPU_RECORDER_LIVE_PATH_H_
#define OFFCPU_RECORDER_LIVE_PATH_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "capture/events.h"
#include "capture/waiting_thread.h"
#include "profile/interval.h"
#include "profile/profile.h"
#include "recorder/live.h"
#include "recorder/live_waits.h"
#include "recorder/targets.h"
#include "recorder/window.h"

namespace offcpu {

class LivePath {
 public:
  struct Hooks {
    // Runs on reader threads, may block for ever and owns all that it uses. The stacks of threads of one process that
    // wait; see live.h.
    std::function<std::vector<LiveStack>(const std::vector<WaitingThread>&)> read_stacks;
    // What becomes of the stacks.
    std::function<void(CaptureEvent&&)> capture;
    std::function<void(uint64_t cookie, NoUserStack reason)> give_up;
  };

  // `targets` must outlive it. `unread_batches`: of threads that wait for a reader thread.
  LivePath(Targets& targets, Hooks hooks, size_t unread_batches, uint64_t now_ns);
  LivePath(const LivePath&) = delete;
  LivePath& operator=(const LivePath&) = delete;

  void Read(std::vector<WaitingThread> threads);
  void Tick(uint64_t now_ns);
  bool idle() const { return unread_.empty(); }

  // The cookie that the stack of the event's wait is found under, as far as it is known better here.
  void FindStack(const IntervalEvent& event, Window& window, Interval* interval);
  // The cookie of a stack that the event's wait still waits for, or 0.
  uint64_t AwaitedCookie(const IntervalEvent& event);
  // A cookie's stack became known. Gives another cookie that this is the stack of, or 0.
  uint64_t Resolve(uint64_t cookie, const UserStack& stack);
  void Fail(uint64_t cookie, NoUserStack reason) { waits_.Fail(cookie, reason); }

  // See LiveWaits.
  void BeginWindow(const std::vector<WaitingThread>& threads) { waits_.BeginWindow(threads); }
  void ForgetOtherWindows() { waits_.ForgetOtherWindows(); }
  // Nothing more will be read.
  void Finish() { GiveUpStale(UINT64_MAX); }

  size_t size() const { return waits_.size(); }

 private:
  using Batch = std::shared_ptr<const std::vector<WaitingThread>>;  // of one process

  void AddUnread(std::vector<WaitingThread> threads);
  void SubmitUnread();
  ReadTaken Submit(const Batch& batch, uid_t owner);
  void OnStacks(const std::vector<WaitingThread>& threads, std::vector<LiveStack> stacks);
  void OnNoStacks(const std::vector<WaitingThread>& threads, NoUserStack reason);
  void OnNoStack(const WaitingThread& thread, LiveWait& wait, NoUserStack reason);
  // Those whose intervals have not come.
  void GiveUpStale(uint64_t now_ns);

  Targets& targets_;
  const Hooks hooks_;
  const size_t unread_batches_;
  LiveWaits waits_;
  std::deque<Batch> unread_;  // wait for a reader thread to be free
  struct StaleWait {
    uint64_t cookie = 0;
    uint64_t until_ns = 0;
  };
  std::deque<StaleWait> stale_;  // ended before they were read: their intervals may bring their stacks
  uint64_t now_ns_;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_LIVE_PATH_H_

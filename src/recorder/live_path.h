// The live path: reads the stacks of threads that wait and may never come back from outside. Each serves the wait that
// its thread is in, whenever that ends, and as it is at the end of every window until then, which Stacks knows. A stack
// that was read goes the way of a capture, under a cookie of the wait.
//
// One thread. The reading runs on reader threads, as a job of the process it is about. Does not walk, and chooses
// nobody: whose stacks are wanted is the caller's affair.
#ifndef OFFCPU_RECORDER_LIVE_PATH_H_
#define OFFCPU_RECORDER_LIVE_PATH_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "bpf_programs/waiting_thread.h"
#include "profile/profile.h"
#include "recorder/host.h"
#include "recorder/live.h"
#include "recorder/stacks.h"
#include "recorder/targets.h"

namespace offcpu {

class LivePath {
 public:
  // `targets` and `stacks` must outlive it. `unread_batches`: of threads that wait for a reader thread.
  LivePath(Targets& targets, Stacks& stacks, std::shared_ptr<Host> host, size_t unread_batches, uint64_t now_ns);
  LivePath(const LivePath&) = delete;
  LivePath& operator=(const LivePath&) = delete;

  void Read(std::vector<WaitingThread> threads);
  void Tick(uint64_t now_ns);
  bool idle() const { return unread_.empty(); }

  // How many stacks have been read since it was last called.
  uint64_t TakeRead() { return std::exchange(read_, 0); }
  // Nothing more will be read.
  void Finish() { GiveUpStale(UINT64_MAX); }

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
  Stacks& stacks_;
  const std::shared_ptr<Host> host_;
  const size_t unread_batches_;
  std::deque<Batch> unread_;  // wait for a reader thread to be free
  struct StaleWait {
    uint64_t cookie = 0;
    uint64_t until_ns = 0;
  };
  std::deque<StaleWait> stale_;  // ended before they were read: their intervals may bring their stacks
  uint64_t read_ = 0;
  uint64_t now_ns_;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_LIVE_PATH_H_

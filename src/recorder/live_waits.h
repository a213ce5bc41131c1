// Which waits have had their stacks read from outside, and what came of it. A wait is a thread and the number of its
// switches; its thread may come back from it long after, in another window. Plain state of one thread, bounded in
// threads.
#ifndef OFFCPU_RECORDER_LIVE_WAITS_H_
#define OFFCPU_RECORDER_LIVE_WAITS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "bpf_programs/waiting_thread.h"
#include "process/identity.h"
#include "profile/profile.h"
#include "recorder/stack_pool.h"

namespace offcpu {

struct LiveWait {
  ProcessKey process;
  uint64_t switches = 0;
  uint64_t cookie = 0;                      // its stack is resolved under this
  uint64_t capture_cookie = 0;              // or under this: of the capture that was made when it had ended; 0: none
  NoUserStack failed = NoUserStack::kNone;  // unless the stack is known
  SharedStack stack;                        // null until it is known
  uint64_t window = 0;                      // the last one in which its thread was in it
};

class LiveWaits {
 public:
  explicit LiveWaits(size_t max_threads) : max_threads_(max_threads) {}

  // Begins with the wait that `thread` is in; null if that has been begun with already, and did not fail for what may
  // have been the fault of the moment. Valid until the next call.
  LiveWait* Begin(const WaitingThread& thread);
  // Null if nothing is known of this wait. Valid until the next Begin.
  LiveWait* Find(const ProcessKey& process, int32_t tid, uint64_t switches);
  // The wait has ended, and its stack is to be captured under `capture_cookie`.
  void Link(LiveWait& wait, int32_t tid, uint64_t capture_cookie);
  // A stack became known: the wait that this is news for, or null. Valid until the next Begin.
  const LiveWait* Resolve(uint64_t cookie, const UserStack& stack);
  // There will be none.
  void Fail(uint64_t cookie, NoUserStack reason);

  // Another window begins. Its first list of threads, in whatever wait each is, is all that need be kept of those
  // before, once nothing of theirs is on its way any more.
  void BeginWindow(const std::vector<WaitingThread>& threads);
  void ForgetOtherWindows();

  size_t size() const { return by_tid_.size(); }

 private:
  LiveWait* FindByCookie(uint64_t cookie);
  void ForgetCookies(const LiveWait& wait);

  const size_t max_threads_;  // all are forgotten when there are more
  StackPool pool_;
  uint64_t cookies_ = 0;
  uint64_t windows_ = 0;
  absl::flat_hash_map<int32_t, LiveWait> by_tid_;
  absl::flat_hash_map<uint64_t, int32_t> tid_of_cookie_;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_LIVE_WAITS_H_

// Which waits have had their stacks read from outside, and what came of it. A wait is a thread and the number of its
// switches; its thread may come back from it long after. Plain state of one thread, bounded in threads.
#ifndef OFFCPU_PROFILER_LIVE_WAITS_H_
#define OFFCPU_PROFILER_LIVE_WAITS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "capture/waiting_thread.h"
#include "process/identity.h"
#include "profile/profile.h"

namespace offcpu {

struct LiveWait {
  ProcessKey process;
  uint64_t switches = 0;
  uint64_t cookie = 0;  // its stack is resolved under this
  NoUserStack failed = NoUserStack::kNone;
  std::optional<uint32_t> user_stack;  // index of the stack table, once it is known
};

class LiveWaits {
 public:
  explicit LiveWaits(size_t max_threads) : max_threads_(max_threads) {}

  // Begins with the wait that `thread` is in; null if that has been begun with already. Valid until the next call.
  LiveWait* Begin(const WaitingThread& thread);
  // Null if nothing is known of this wait. Valid until the next Begin.
  LiveWait* Find(const ProcessKey& process, int32_t tid, uint64_t switches);
  // A stack became known.
  void Resolve(uint64_t cookie, uint32_t user_stack);

 private:
  const size_t max_threads_;  // all are forgotten when there are more
  uint64_t cookies_ = 0;
  absl::flat_hash_map<int32_t, LiveWait> by_tid_;
  absl::flat_hash_map<uint64_t, int32_t> tid_of_cookie_;
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILER_LIVE_WAITS_H_

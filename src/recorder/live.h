// One reading of the live path: copies the user stacks of threads that wait, from outside and without stopping them.
// Reads the target's memory, which may block for ever: runs on reader threads, touches nothing shared.
//
// A stack counts only if its thread has not run from the moment it was listed until after the copy; nobody but the
// kernel's own count of its switches is asked. Does not walk.
#ifndef OFFCPU_RECORDER_LIVE_H_
#define OFFCPU_RECORDER_LIVE_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "bpf_programs/events.h"
#include "bpf_programs/waiting_thread.h"
#include "profile/profile.h"
#include "recorder/process_snapshot.h"
#include "runtimes/runtime.h"

namespace offcpu {

inline constexpr size_t kLiveStackBytes = 256 << 10;  // of one thread
inline constexpr size_t kLiveThreadsAtOnce = 64;      // in one call

// A thread as it is now; nothing if it is gone.
using FindThreadFunction = std::function<std::optional<WaitingThread>(pid_t tid)>;

struct LiveStack {
  NoUserStack missing = NoUserStack::kNone;  // why `capture` is not set
  CaptureEvent capture;                      // its cookie is left to the caller
  InterpretedStack interpreted;
};

// One for each of `threads`, which are of one process, in their order. `runtime`: of the process, for what its threads
// interpret; null: that is not read.
std::vector<LiveStack> ReadLiveStacks(const std::vector<WaitingThread>& threads, size_t max_bytes,
                                      const FindThreadFunction& find, const DescribeFunction& describe,
                                      Runtime* runtime = nullptr);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_LIVE_H_

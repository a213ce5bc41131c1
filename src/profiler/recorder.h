// Records off-CPU time from Start to Stop: BPF programs -> rings -> decode -> walk -> join -> table -> Profile. The
// time between may be cut into windows, each with a profile of its own.
//
// Threads: one drains the rings, one worker owns processes, caches, joiner and table, a few read targets. The caller's
// thread only starts, asks, cuts and stops. Needs CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE. Does not symbolize.
#ifndef OFFCPU_PROFILER_RECORDER_H_
#define OFFCPU_PROFILER_RECORDER_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profile/profile.h"
#include "unwind/unwind_order.h"

namespace offcpu {

struct RecordConfig {
  // What to record. All empty: the whole host. Kinds are combined with "and", members of one kind with "or".
  std::vector<pid_t> pids;
  std::vector<pid_t> tids;
  std::vector<std::string> cgroups;  // directories below a cgroup v2 mount; descendants belong to them
  std::vector<std::string> comms;    // globs (* and ?) over the thread's name
  pid_t command = 0;                 // recorded from its execve on, beside `pids`; 0: none
  bool follow_forks = false;         // children of `pids` and of `command` are recorded too
  std::vector<uid_t> uids;           // effective ones
  uint64_t min_wait_ns = 0;          // shorter intervals are counted, not recorded
  uint64_t max_wait_ns = 0;          // likewise longer ones; 0: any length
  std::vector<WaitKind> kinds;       // of intervals; those of others are counted
  bool kernel_threads = false;       // are recorded too

  // How.
  // Intervals shorter than this are drawn with the probability length / sample_ns, and those that are drawn stand for
  // sample_ns each, so that sums are right on average and long intervals exactly; 0: every interval is recorded.
  uint64_t sample_ns = 0;
  UnwindOrder unwind;
  bool per_thread = false;    // rows tell the threads of a process apart
  bool show_sleepers = true;  // threads that never run have rows; else they are only counted
  bool ledger = false;        // account for all the time of every thread

  // Limits.
  uint32_t interval_ring_bytes = 32u << 20;
  uint32_t capture_ring_bytes = 32u << 20;
  uint32_t drain_period_ms = 5;
  uint32_t queue_bytes = 128u << 20;              // between the reader and the worker
  uint32_t task_works_per_second = 1000;          // per CPU; each costs an interrupt
  uint64_t capture_bytes_per_second = 16u << 20;  // per CPU
  uint32_t target_deadline_ms = 1000;             // for one look at one process
  uint32_t live_after_ms = 10'000;  // a wait of that length has its stack read while it lasts; 0: only at the end
};

struct RecorderProgress {
  uint64_t intervals = 0;
  uint64_t stacks = 0;  // rows of the table, of this window
  uint64_t drops = 0;   // events lost so far, all reasons
};

class Recorder {
 public:
  virtual ~Recorder() = default;
  // Loads and attaches the programs; recording runs when this returns.
  static absl::StatusOr<std::unique_ptr<Recorder>> Start(const RecordConfig& config);
  virtual RecorderProgress progress() const = 0;
  // Ends the running window and begins the next; returns the profile of the one that has ended. Blocks until its stacks
  // are known, a few seconds at most, while the next window is being recorded. Not while another thread is in it. If it
  // fails, the window goes on.
  virtual absl::StatusOr<Profile> Cut() = 0;
  // Detaches, drains what is there and returns the profile of the last window. Once.
  virtual absl::StatusOr<Profile> Stop() = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILER_RECORDER_H_

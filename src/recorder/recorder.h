// Records off-CPU time from Start to Stop: BPF programs -> rings -> decode -> walk -> join -> table -> Profile. The
// time between may be cut into windows, each with a profile of its own.
//
// Threads: one drains the rings, one worker owns processes, caches, joiner and table, a few read targets. The caller's
// thread only starts, asks, cuts and stops. Needs CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE. Does not symbolize.
#ifndef OFFCPU_RECORDER_RECORDER_H_
#define OFFCPU_RECORDER_RECORDER_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "os/reader_pool.h"
#include "process/module_cache.h"
#include "profile/profile.h"
#include "recorder/record_config.h"

namespace offcpu {

struct RecorderProgress {
  uint64_t intervals = 0;
  uint64_t stacks = 0;  // rows of the table, of this window
  uint64_t losses = 0;  // events lost so far, all reasons
  // Signs of life of its two threads: each grows within a second or two, whatever there is to do.
  uint64_t drains = 0;
  uint64_t turns = 0;          // of the worker
  bool adapts_sample = false;  // to the budget
  uint64_t threshold_ns = 0;   // shorter waits of some users are sampled now; 0: all waits of all users are recorded
};

class Recorder {
 public:
  virtual ~Recorder() = default;
  // Loads and attaches the programs; recording runs when this returns. Recorders may share `modules` and
  // `readers`; null: its own.
  static absl::StatusOr<std::unique_ptr<Recorder>> Start(const RecordConfig& config,
                                                         std::shared_ptr<ModuleCache> modules = nullptr,
                                                         std::shared_ptr<ReaderPool> readers = nullptr);
  virtual RecorderProgress progress() const = 0;
  // Ends the running window and begins the next; returns the profile of the one that has ended. Blocks until its stacks
  // are known, a few seconds at most, while the next window is being recorded. Not while another thread is in it. If it
  // fails, the window goes on.
  virtual absl::StatusOr<Profile> Cut() = 0;
  // Detaches, drains what is there and returns the profile of the last window. Once.
  virtual absl::StatusOr<Profile> Stop() = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_RECORDER_H_

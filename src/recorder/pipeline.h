// Events in, a Profile out for every window: the worker's half of a recording. It passes things on between its owners,
// none of which calls it: captures that the targets have made ready are walked, the stacks of the walks go to Stacks,
// and the book of windows takes in what is new there. The live path adds the stacks of threads that still wait. One
// thread, no libbpf. What may block runs on reader threads, and nothing else waits for it.
#ifndef OFFCPU_RECORDER_PIPELINE_H_
#define OFFCPU_RECORDER_PIPELINE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "bpf_programs/events.h"
#include "profile/profile.h"
#include "recorder/host.h"
#include "recorder/live_path.h"
#include "recorder/runtime_reads.h"
#include "recorder/stacks.h"
#include "recorder/targets.h"
#include "recorder/walk_capture.h"
#include "recorder/window_book.h"
#include "unwind/walk.h"

namespace offcpu {

struct PipelineConfig {
  UnwindOrder unwind;
  size_t max_frames = kMaxFrames;  // of a user stack
  TargetsConfig targets;
  Stacks::Limits stacks;
  WindowBookConfig windows;
  size_t unread_batches = 4096;  // of threads that wait for their stacks to be read
};

class Pipeline {
 public:
  // `now_ns`: as of Tick. What comes before the first one must not have waited since the clock began.
  Pipeline(const PipelineConfig& config, std::shared_ptr<Host> host, uint64_t now_ns);
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  void Handle(Event event);
  // A process that is there already: it is looked at before it has to do with any event, because it may end right after
  // its first one.
  void Expect(const ProcessKey& process, int32_t tid) { targets_.HearOf(process, tid, {}); }
  // Reads the stacks of those threads that wait and are wanted: see live_path.h.
  void ReadWaiting(std::vector<WaitingThread> threads);
  // A record that was none.
  void CountUndecodable() { ++undecodable_; }
  // Takes in finished snapshots and lets time pass. Any clock that does not go back.
  void Tick(uint64_t now_ns);
  // No event comes any more.
  void BeginEnd() { runtime_reads_.BeginEnd(); }
  // No snapshot is under way: nothing more will come of waiting.
  bool idle() const { return targets_.idle() && runtime_reads_.idle() && live_.idle(); }

  // How many readings of targets have come to an end; also those that were given up.
  uint64_t readings() const;

  // See WindowBook. `threads` are all that there are, as they were at `end_ns`, listed after it. An error if `end_ns`
  // is not later than the window's beginning.
  absl::Status Cut(uint64_t end_ns, const std::vector<WaitingThread>& threads);
  bool IsClosed(bool all_handled) const { return windows_.IsClosed(all_handled); }
  // `losses` are those of the earlier stages in that window.
  Profile TakeClosed(std::vector<Loss> losses);

  // Ends the last window; see CloseOpenWaits.
  void AddOpenWaits(const std::vector<WaitingThread>& first, const std::vector<WaitingThread>& last);
  Profile Finish(std::vector<Loss> losses);

  // In this window, and in all.
  size_t rows() const { return windows_.rows(); }
  uint64_t intervals() const { return windows_.intervals(); }
  uint64_t walks() const { return walks_; }

  // What is kept from one window to the next, in entries.
  struct Kept {
    size_t targets = 0;
    size_t exited = 0;
    size_t kernel_stacks = 0;
    size_t live_waits = 0;
    size_t reported_waits = 0;

    bool operator==(const Kept&) const = default;
  };
  Kept kept() const;

 private:
  void On(const IntervalEvent& event);
  void On(const SampleEvent& event);
  void On(KernelStackEvent&& event) { windows_.Define(std::move(event)); }
  void On(CodeListEvent&& event) { targets_.OnCodeList(std::move(event)); }
  void On(CaptureEvent&& event);
  void On(const CaptureFailedEvent& event) { stacks_.Fail(event.cookie, event.reason); }
  void On(const ExecEvent& event) { targets_.OnExec(event.process); }
  void On(const ExitEvent& event) { targets_.OnExit(event.process); }

  // Walks what is ready, and gives what has become known to those that wait for it.
  void PassOn();
  void Walk(const CaptureEvent& capture, const CaptureCode& code);
  std::vector<Loss> CountedLosses() const;
  // `losses`, and what the pipeline has counted since it was last asked.
  std::vector<Loss> WithCounted(std::vector<Loss> losses);

  const PipelineConfig config_;
  const std::shared_ptr<Host> host_;
  Stacks stacks_;
  Targets targets_;
  RuntimeReads runtime_reads_;
  WindowBook windows_;
  LivePath live_;
  Walkers walkers_;
  // Reused by every walk.
  UserStack scratch_;
  WalkTrace trace_;
  // In all windows.
  uint64_t walks_ = 0;
  uint64_t undecodable_ = 0;
  std::vector<Loss> losses_before_;  // in the windows that are finished
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_PIPELINE_H_

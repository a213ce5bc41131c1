// Events in, a Profile out for every window: the worker's half of a recording. Wires its owners together: the targets
// hand captures on to be walked, the walks' stacks go to the book of windows, and the live path adds the stacks of
// threads that still wait. One thread, no libbpf. What may block runs on reader threads, and nothing else waits for it.
#ifndef OFFCPU_RECORDER_PIPELINE_H_
#define OFFCPU_RECORDER_PIPELINE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "capture/events.h"
#include "process/control_groups.h"
#include "profile/profile.h"
#include "recorder/known_stacks.h"
#include "recorder/live.h"
#include "recorder/live_path.h"
#include "recorder/look.h"
#include "recorder/runtime_reads.h"
#include "recorder/targets.h"
#include "recorder/walk_capture.h"
#include "recorder/window_book.h"
#include "unwind/walk.h"

namespace offcpu {

struct PipelineConfig {
  UnwindOrder unwind;
  size_t max_frames = kMaxFrames;  // of a user stack
  TargetsConfig targets;
  WindowBookConfig windows;
  size_t unread_batches = 4096;  // of threads that wait for their stacks to be read
};

class Pipeline {
 public:
  // What the pipeline asks of others. `look` and `read_stacks` run on reader threads, may block for ever and own all
  // that they use; see targets.h and live_path.h.
  struct Hooks {
    std::function<ProcessLook(const ProcessKey&, int32_t tid, const std::shared_ptr<const AddressSpace>& previous)>
        look;
    std::function<std::shared_ptr<Runtime>(int32_t tid, const AddressSpace&)> find_runtime;
    std::function<std::vector<LiveStack>(const std::vector<WaitingThread>&)> read_stacks;
    std::function<void(int32_t tid, const StackHint&)> hint;
    std::function<void(uint64_t id)> forget_definition;
    wire_hash_key hash_key = {};  // that kernel stacks are named under
    KnownStacks::Hooks known_stacks;
    std::function<uid_t(pid_t)> owner;  // of a process; does not block
    ControlGroups::Find control_group;
    std::shared_ptr<SharedFiles> files = std::make_shared<SharedFiles>(kMaxSharedPieces);  // that looks may ask
    std::shared_ptr<ReaderPool> readers;  // that both of the first run on
  };

  // `now_ns`: as of Tick. What comes before the first one must not have waited since the clock began.
  Pipeline(const PipelineConfig& config, Hooks hooks, uint64_t now_ns);
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
  // Takes in finished looks and lets time pass. Any clock that does not go back.
  void Tick(uint64_t now_ns);
  // No look is under way: nothing more will come of waiting.
  bool idle() const { return targets_.idle() && live_.idle() && runtime_reads_.idle(); }

  // How many readings of targets have come to an end; also those that were given up.
  uint64_t readings() const;

  // See WindowBook. `threads` are all that there are, as they were at `end_ns`, listed after it. An error if `end_ns`
  // is not later than the window's beginning.
  absl::Status Cut(uint64_t end_ns, const std::vector<WaitingThread>& threads);
  bool IsClosed(bool all_handled) const { return windows_.IsClosed(all_handled); }
  // `drops` are those of the earlier stages in that window.
  Profile TakeClosed(std::vector<Drop> drops);

  // Ends the last window; see CloseOpenWaits.
  void AddOpenWaits(const std::vector<WaitingThread>& first, const std::vector<WaitingThread>& last);
  Profile Finish(std::vector<Drop> drops);

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
  void On(const CaptureFailedEvent& event) { GiveUp(event.cookie, event.reason); }
  void On(const ExecEvent& event) { targets_.OnExec(event.process); }
  void On(const ExitEvent& event) { targets_.OnExit(event.process); }

  Targets::Hooks TargetsHooks();
  WindowBook::Hooks WindowsHooks();
  LivePath::Hooks LiveHooks();

  void FindStack(const IntervalEvent& event, Window& window, Interval* interval);
  void Walk(const CaptureEvent& capture, const CaptureCode& code);
  void Resolve(uint64_t cookie, const UserStack& stack);
  void GiveUp(uint64_t cookie, NoUserStack reason);
  std::vector<Drop> CountedDrops() const;
  // `drops`, and what the pipeline has counted since it was last asked.
  std::vector<Drop> WithCounted(std::vector<Drop> drops);

  const PipelineConfig config_;
  const Hooks hooks_;
  Targets targets_;
  RuntimeReads runtime_reads_;
  WindowBook windows_;
  LivePath live_;
  Walkers walkers_;
  // Reused by every walk.
  UserStack scratch_;
  WalkTrace trace_;
  KnownStacks known_stacks_;
  // In all windows.
  uint64_t walks_ = 0;
  uint64_t undecodable_ = 0;
  std::vector<Drop> drops_before_;  // in the windows that are finished
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_PIPELINE_H_

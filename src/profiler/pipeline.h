// Events in, a Profile out for every window: walks captures, joins them with intervals, sums. The worker's half of a
// recording; one thread, no libbpf. What may block (looking at a process) runs on reader threads, and nothing else
// waits for it.
//
// A capture is walked with the mappings of exactly its code version, or not at all.
//
// A window is cut at an instant of the scheduler's clock that no event handled so far lies behind. It stays with the
// pipeline until all that happened in it has been handled and its stacks are known, while the next one is filled; an
// interval that reaches from the one into the other is shared out between them.
#ifndef OFFCPU_PROFILER_PIPELINE_H_
#define OFFCPU_PROFILER_PIPELINE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "capture/events.h"
#include "process/control_groups.h"
#include "process/reader_threads.h"
#include "profile/kernel_stacks.h"
#include "profile/losses.h"
#include "profile/profile.h"
#include "profiler/live.h"
#include "profiler/live_waits.h"
#include "profiler/look.h"
#include "profiler/open_waits.h"
#include "profiler/reported_waits.h"
#include "profiler/shared_files.h"
#include "profiler/target.h"
#include "profiler/wait_part.h"
#include "profiler/window.h"
#include "unwind/walk.h"

namespace offcpu {

struct PipelineConfig {
  UnwindOrder unwind;
  WindowConfig window;
  OpenWaitsConfig open_waits;
  size_t targets = 8192;              // processes known at one time
  size_t kernel_stacks = 1 << 16;     // of which the frames are known
  size_t waiting_bytes = 64u << 20;   // stacks that wait for a look
  size_t unread_batches = 4096;       // of threads that wait for their stacks to be read
  uint64_t retry_ns = 5'000'000'000;  // until a process that could not be read is looked at again
  // That a window which has been cut waits for stacks: a look at a process comes to an end in a second, and another one
  // for a stack of its threads. A stay in the kernel that lasts longer may last for ever.
  uint64_t close_ns = 2'000'000'000;
  bool code_hash = true;                            // captures carry a hash of the executable mappings
  std::chrono::milliseconds target_deadline{1000};  // for one look at a process, or one reading of its stacks
};

class Pipeline {
 public:
  // What the pipeline asks of others. `look` runs on reader threads, may block for ever and owns all that it uses.
  struct Hooks {
    std::function<ProcessLook(const ProcessKey&, int32_t tid, const std::shared_ptr<const AddressSpace>& previous)>
        look;
    // Likewise. The stacks of threads of one process that wait; see live.h.
    std::function<std::vector<LiveStack>(const std::vector<WaitingThread>&)> read_stacks;
    std::function<void(int32_t tid, uint32_t bytes)> grow_window;
    std::function<void(uint64_t id)> forget_definition;
    std::function<uid_t(pid_t)> owner;  // of a process; does not block
    ControlGroups::Find control_group;
    std::shared_ptr<ReaderPool> readers;  // that both of the first run on
  };

  // `now_ns`: as of Tick. What comes before the first one must not have waited since the clock began.
  Pipeline(const PipelineConfig& config, Hooks hooks, uint64_t now_ns);
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  void Handle(Event event);
  // A process that is there already: it is looked at before it has to do with any event, because it may end right after
  // its first one.
  void Expect(const ProcessKey& process, int32_t tid) { FindOrAddTarget(process, tid, {}); }
  // The live path: reads the stacks of threads that wait, but for those that nobody will see. Each serves the wait that
  // its thread is in, whenever that ends, and as it is at the end of every window until then.
  void ReadWaiting(std::vector<WaitingThread> threads);
  // A record that was none.
  void CountUndecodable() { ++undecodable_; }
  // Takes in finished looks and lets time pass. Any clock that does not go back.
  void Tick(uint64_t now_ns);
  // No look is under way: nothing more will come of waiting.
  bool idle() const { return readers_.pending() == 0 && unasked_.empty() && unread_.empty(); }

  // Of targets, that have come to an end; also those that were given up.
  uint64_t readings() const { return readers_.stats().done + readers_.stats().stuck + readers_.stats().not_begun; }

  // Ends the window and begins the next one. `end_ns` is of the scheduler's clock, and an error if it is not later than
  // the beginning; `threads` are all that there are, as they were then, listed after it. Not while another window is
  // being closed.
  absl::Status Cut(uint64_t end_ns, const std::vector<WaitingThread>& threads);
  // Has the window that was cut all its intervals and their stacks, or waited for long enough? `all_handled`: all
  // events from before the list was made have been.
  bool IsClosed(bool all_handled) const;
  // Ends the closing. `drops` are those of the earlier stages in that window.
  Profile TakeClosed(std::vector<Drop> drops);

  // Ends the last window; see CloseOpenWaits.
  void AddOpenWaits(const std::vector<WaitingThread>& first, const std::vector<WaitingThread>& last);
  Profile Finish(std::vector<Drop> drops);

  // In this window, and in all.
  size_t rows() const { return current_->rows(); }
  uint64_t intervals() const { return intervals_; }
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
  using Batch = std::shared_ptr<const std::vector<WaitingThread>>;  // of one process

  void On(IntervalEvent&& event);
  void On(const SampleEvent& event);
  void On(KernelStackEvent&& event);
  void On(CodeListEvent&& event);
  void On(CaptureEvent&& event);
  void On(const CaptureFailedEvent& event);
  void On(const ExecEvent& event);
  void On(const ExitEvent& event);

  Target* FindOrAddTarget(const ProcessKey& process, int32_t tid, const std::string& comm);
  void HearOf(Target& target, int32_t tid, const std::string& comm) const;
  bool MayBeLookedAt(const ProcessKey& process, Target& target);
  void EvictExited();
  void WalkOrWait(CaptureEvent&& event);
  void Wait(const ProcessKey& process, Target& target, CaptureEvent&& event);
  void Ask(const ProcessKey& process, Target& target);
  void LookAgain(const ProcessKey& process);
  void OnLook(const ProcessKey& process, uint64_t number, ProcessLook&& look);
  void Learn(Target& target, const ProcessLook& look);
  void Answer(Target& target, const ProcessLook& look, const std::shared_ptr<const AddressSpace>& previous);
  // `until_ns` 0: for good.
  void Refuse(Target& target, NoUserStack reason, uint64_t until_ns);
  void Walk(const AddressSpace& space, const CaptureEvent& event, bool whole = true);
  // Puts together what is known of the code that `mappings` list; `*whole` tells whether it is all of it.
  std::shared_ptr<const AddressSpace> Compose(const Target& target, const std::vector<CodeMapping>& mappings,
                                              bool* whole) const;
  // Walks it with what is known of its code without another look; false if that is not enough.
  bool WalkFromList(Target& target, const CaptureEvent& event, bool whole_only);
  void AddUnread(std::vector<WaitingThread> threads);
  void SubmitReading();
  ReadTaken SubmitReading(const Batch& batch, uid_t owner);
  ReadTaken Submit(const ProcessKey& process, uid_t owner, ReaderThreads::Job job, std::function<void()> stuck);
  uid_t OwnerOf(const ProcessKey& process);
  void OnLiveStacks(const std::vector<WaitingThread>& threads, std::vector<LiveStack> stacks);
  // Those whose intervals have not come.
  void GiveUpStale(uint64_t now_ns);
  // The stay that a wait's stack is found under, as far as the live path knows better than the event itself.
  void UseLiveStack(const IntervalEvent& event, Window& window, Interval* interval);
  void AddTo(Window& window, const IntervalEvent& event, const WaitPart& part, WaitKind kind);
  // What of a wait lies in a window that can be told no more.
  void CountLost(LossId loss, const IntervalEvent& event, const WaitPart& part);
  // A stay may have intervals in two windows.
  void ShareOutcome(uint64_t cookie, Window& window);
  void Describe(const ProcessInfo& process);
  std::vector<Drop> CountedDrops() const;
  Profile FinishWindow(Window& window, std::vector<Drop> drops);
  // After a window was closed: what nobody can ask for any more.
  void Forget();
  void Resolve(uint64_t cookie, const UserStack& stack);
  void CountWalk();
  void ResolveMissing(const CaptureEvent& event, Target& target, NoUserStack reason);
  void ResolveMissing(uint64_t cookie, NoUserStack reason);
  CaptureEvent TakeWaiting(Target& target);

  PipelineConfig config_;
  Hooks hooks_;
  ReaderThreads readers_;
  KernelStacks kernel_stacks_;
  ControlGroups control_groups_;
  std::unique_ptr<Window> current_;
  std::unique_ptr<Window> closing_;  // the one before, from Cut to TakeClosed
  uint64_t close_by_ns_ = 0;         // of it
  uint64_t windows_ = 0;             // begun after the first
  ReportedWaits reported_;
  Walker walker_;
  UserStack scratch_;  // reused by every walk
  absl::flat_hash_map<ProcessKey, std::unique_ptr<Target>> targets_;
  SharedFiles files_{1 << 14};
  absl::flat_hash_map<uint64_t, std::vector<CodeMapping>> code_lists_;  // by code hash
  size_t code_list_entries_ = 0;                                        // in all of them
  absl::flat_hash_set<ProcessKey> unasked_;                             // wait for a reader thread to be free
  LiveWaits live_;
  std::deque<Batch> unread_;  // wait for a reader thread to be free
  struct StaleWait {
    uint64_t cookie = 0;
    uint64_t until_ns = 0;
  };
  std::deque<StaleWait> stale_;  // ended before they were read: their intervals may bring their stacks
  std::deque<ProcessKey> exited_;
  size_t waiting_bytes_ = 0;
  uint64_t now_ns_;
  // In all windows.
  uint64_t intervals_ = 0;
  uint64_t walks_ = 0;
  uint64_t undecodable_ = 0;
  uint64_t targets_over_limit_ = 0;
  uint64_t waiting_over_limit_ = 0;
  std::vector<Drop> drops_before_;  // in the windows that are finished
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILER_PIPELINE_H_

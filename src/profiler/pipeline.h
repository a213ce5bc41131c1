// Events in, a Profile out: walks captures, joins them with intervals, sums. The worker's half of a recording; one
// thread, no libbpf. What may block (looking at a process) runs on reader threads, and nothing else waits for it.
//
// A capture is walked with the mappings of exactly its code version, or not at all.
#ifndef OFFCPU_PROFILER_PIPELINE_H_
#define OFFCPU_PROFILER_PIPELINE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "capture/events.h"
#include "process/reader_threads.h"
#include "profile/joiner.h"
#include "profile/off_cpu_table.h"
#include "profile/stack_table.h"
#include "profiler/live.h"
#include "profiler/live_waits.h"
#include "profiler/look.h"
#include "profiler/shared_files.h"
#include "profiler/target.h"
#include "unwind/walk.h"

namespace offcpu {

struct PipelineConfig {
  UnwindOrder unwind;
  uint64_t sample_ns = 0;              // shorter intervals are a sample, see RecordConfig
  bool per_thread = false;             // rows tell the threads of a process apart
  size_t targets = 8192;               // processes known at one time
  size_t waiting_bytes = 64u << 20;    // stacks that wait for a look
  size_t unread_batches = 4096;        // of threads that wait for their stacks to be read
  uint64_t retry_ns = 5'000'000'000;   // until a process that could not be read is looked at again
  uint64_t join_ns = 600'000'000'000;  // that an interval waits for its stack: a stay may last long
  bool code_hash = true;               // captures carry a hash of the executable mappings
  ReaderLimits readers;
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
  };

  Pipeline(const PipelineConfig& config, Hooks hooks);
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  void Handle(Event event);
  // A process that is there already: it is looked at before it has to do with any event, because it may end right after
  // its first one.
  void Expect(const ProcessKey& process, int32_t tid) { FindOrAddTarget(process, tid, {}); }
  // The live path: reads the stacks of threads that wait. Each serves the wait that its thread is in, whenever that
  // ends, or as it is when the recording does.
  void ReadWaiting(std::vector<WaitingThread> threads);
  // A record that was none.
  void CountUndecodable() { ++undecodable_; }
  // Takes in finished looks and lets time pass. Any clock that does not go back.
  void Tick(uint64_t now_ns);
  // No look is under way: nothing more will come of waiting.
  bool idle() const { return readers_.pending() == 0 && unasked_.empty() && unread_.empty(); }

  // Of targets, that have come to an end; also those that were given up.
  uint64_t readings() const { return readers_.stats().done + readers_.stats().stuck; }

  uint64_t intervals() const { return stats_.intervals; }
  uint64_t walks() const { return stats_.walks; }
  size_t rows() const { return table_.rows(); }

  // Ends it. `drops` are those of the earlier stages.
  Profile Finish(std::vector<Drop> drops);

 private:
  void On(IntervalEvent&& event);
  void On(KernelStackEvent&& event);
  void On(CodeListEvent&& event);
  void On(CaptureEvent&& event);
  void On(const CaptureFailedEvent& event);
  void On(const ExecEvent& event);
  void On(const ExitEvent& event);

  Target* FindOrAddTarget(const ProcessKey& process, int32_t tid, const std::string& comm);
  bool MayBeLookedAt(const ProcessKey& process, Target& target);
  void EvictExited();
  void WalkOrWait(CaptureEvent&& event);
  void Wait(const ProcessKey& process, Target& target, CaptureEvent&& event);
  void Ask(const ProcessKey& process, Target& target);
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
  void OnLiveStacks(const std::vector<WaitingThread>& threads, std::vector<LiveStack> stacks);
  // The stay that a wait's stack is found under, as far as the live path knows better than the event itself.
  void UseLiveStack(const IntervalEvent& event, Interval* interval);
  void Resolve(uint64_t cookie, uint32_t user_stack);
  void CountWalk();
  void CountCookie(const IntervalEvent& event);
  void ResolveMissing(const CaptureEvent& event, Target& target, NoUserStack reason);
  void ResolveMissing(uint64_t cookie, NoUserStack reason);
  CaptureEvent TakeWaiting(Target& target);

  PipelineConfig config_;
  Hooks hooks_;
  ReaderThreads readers_;
  StackTable stacks_;
  OffCpuTable table_;
  Joiner joiner_;
  Walker walker_;
  UserStack scratch_;  // reused by every walk
  absl::flat_hash_map<ProcessKey, std::unique_ptr<Target>> targets_;
  SharedFiles files_{1 << 14};
  absl::flat_hash_map<uint64_t, std::vector<CodeMapping>> code_lists_;  // by code hash
  absl::flat_hash_set<ProcessKey> unasked_;                             // wait for a reader thread to be free
  LiveWaits live_;
  using Batch = std::shared_ptr<const std::vector<WaitingThread>>;  // of one process
  std::deque<Batch> unread_;                                        // wait for a reader thread to be free
  std::deque<ProcessKey> exited_;
  size_t waiting_bytes_ = 0;
  uint64_t now_ns_ = 0;
  absl::flat_hash_map<int32_t, uint64_t> last_cookie_;  // by tid: a thread never comes back to an older one
  uint64_t undecodable_ = 0;
  uint64_t targets_over_limit_ = 0;
  uint64_t waiting_over_limit_ = 0;
  ProfileStats stats_;
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILER_PIPELINE_H_

// What one window of a recording gathers: intervals and parts of intervals, joined with their user stacks and summed,
// and what was counted meanwhile. Made anew for every window, so that nothing of it outlives its Profile. One thread.
// Does not know which window an interval belongs to, and asks Stacks which user stack it has.
#ifndef OFFCPU_RECORDER_WINDOW_H_
#define OFFCPU_RECORDER_WINDOW_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "bpf_programs/events.h"
#include "process/control_groups.h"
#include "profile/interval.h"
#include "profile/joiner.h"
#include "profile/kernel_stacks.h"
#include "profile/losses.h"
#include "profile/off_cpu_table.h"
#include "profile/stack_table.h"
#include "recorder/stacks.h"
#include "recorder/wait_part.h"

namespace offcpu {

struct WindowConfig {
  uint64_t oncpu_period_ns = 0;        // what an on-CPU sample stands for
  bool per_thread = false;             // rows tell the threads of a process apart
  uint64_t bucket_ns = 1'000'000'000;  // see RecordConfig
  uint64_t join_ns = 600'000'000'000;  // that an interval waits for its stack: a kernel entry may last long
};

class Window {
 public:
  // From `begin_ns` on, scheduler's clock; 0: since the recording began. The last three must outlive it.
  Window(uint64_t begin_ns, const WindowConfig& config, const Stacks& user_stacks, KernelStacks& kernel_stacks,
         ControlGroups& control_groups);
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  uint64_t begin_ns() const { return begin_ns_; }

  // Adds `part` of the event's wait. What is open has not been ended by anybody yet.
  void Add(const IntervalEvent& event, const EventStack& stack, const WaitPart& part, WaitKind kind);
  void Add(const SampleEvent& event);
  // Gives an outcome that came to those that wait for it.
  void TakeIn(const StackNews& news);
  // No interval waits for its user stack.
  bool has_all_stacks() const { return joiner_.waiting_entries() == 0; }
  void Advance(uint64_t now_ns) { joiner_.Advance(now_ns); }

  // Define a stack that this window uses, or will use. See StackTable.
  bool DefineKernelStack(const KernelStackEvent& event) { return stacks_.DefineKernel(event.id, event.addresses); }
  void UndefineKernelStack(uint64_t id) { stacks_.UndefineKernel(id); }
  bool HasKernelStack(uint64_t id) const { return stacks_.HasKernel(id); }

  // Name and container, now or at last.
  void Describe(const ProcessInfo& process) { table_.InternProcess(process); }
  void CountLoss(LossId loss, uint64_t count, uint64_t ns);
  ProfileStats& stats() { return stats_; }
  size_t rows() const { return table_.rows(); }

  // Ends it. What still waits is given up. `losses` are those of others.
  Profile Finish(std::vector<Loss> losses);

 private:
  // The key of the row that an interval or a sample is in.
  template <typename AnyEvent>
  RowKey KeyOf(const AnyEvent& event, uint32_t kernel_stack, WaitKind kind);
  uint32_t InternKernelStack(uint64_t id);
  uint32_t InternControlGroup(uint64_t id);
  uint32_t IndexOf(const StackOutcome& outcome);
  Interval IntervalOf(const IntervalEvent& event, const WaitPart& part, WaitKind kind);
  std::vector<IntervalWaker> WakersOf(const IntervalEvent& event);
  // The sum of several waits, which lie in one time bucket.
  Interval SumOf(const IntervalEvent& event, WaitKind kind);
  void UseStack(const EventStack& stack, Interval& interval);
  // Joins what is known of its stacks by now.
  void Join(Interval&& interval);
  void CountCookie(int32_t tid, uint64_t cookie);

  const uint64_t begin_ns_;
  const WindowConfig config_;
  const Stacks& user_stacks_;
  KernelStacks& kernel_stacks_;
  ControlGroups& control_groups_;
  absl::flat_hash_map<uint64_t, uint32_t> control_group_by_id_;
  StackTable stacks_;
  OffCpuTable table_;
  Joiner joiner_;
  absl::flat_hash_map<uint64_t, uint32_t> user_stack_by_id_;  // those that BPF programs have walked
  absl::flat_hash_map<int32_t, uint64_t> last_cookie_;        // by tid: a thread never comes back to an older one
  std::vector<Loss> losses_;
  ProfileStats stats_;
};

// What has been dropped since `before`: lists of sums that only grow, by reason.
std::vector<Loss> LossesSince(const std::vector<Loss>& before, const std::vector<Loss>& now);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_WINDOW_H_

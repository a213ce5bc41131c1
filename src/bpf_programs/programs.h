// The BPF programs: loaded, attached, fed and asked.
//
// Needs what CheckProcessContext asks for. Drain and AwaitNews belong to one thread; DescribeProcess, ListThreads,
// SetStackHint, ForgetDefinition, SetThresholds, ReadUsers, ReadCounters, CountOpenAccounts, ReadRuns, ReadTimes and
// Hurry may be called from any thread, the rest from the one that owns the object.
#ifndef OFFCPU_BPF_PROGRAMS_PROGRAMS_H_
#define OFFCPU_BPF_PROGRAMS_PROGRAMS_H_

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bpf/wire.h"
#include "bpf_programs/account.h"
#include "bpf_programs/counters.h"
#include "bpf_programs/events.h"
#include "bpf_programs/kernel.h"
#include "bpf_programs/selection.h"
#include "bpf_programs/user_rows.h"
#include "bpf_programs/waiting_thread.h"

namespace offcpu {

struct ProgramsConfig : Selection {
  bool is_sampled = false;                // SetThresholds may be called; else every interval is recorded
  bool ledger = false;                    // keep accounts
  uint32_t oncpu_hz = 0;                  // samples of running threads a second and CPU; 0: none
  bool oncpu_in_nmi = false;              // samples are taken in every NMI there is, and by no event: for tests
  bool wakers = false;                    // intervals tell who ended them
  std::optional<wire_hash_key> hash_key;  // none: a new one. One that is known is for tests
  bool checks_kernel_walks = false;       // each one, not only those of new stacks: for tests
  uint32_t proof_odds = 0;                // one walk of a user stack in so many is captured, too; 0: none is walked
  bool sums = true;                       // short intervals whose stacks are walked are added up where they end
  bool per_thread = false;                // but not those of different threads
  uint64_t bucket_ns = 1'000'000'000;     // nor those of different time buckets
  uint32_t stamp_places = WIRE_STAMPS;    // threads beyond them cost more at each switch; 64 bytes each
  uint32_t interval_ring_bytes = 0;       // rounded up to a power of two of pages, as both rings are
  uint32_t capture_ring_bytes = 0;
  uint32_t task_works_per_second = 0;     // per CPU; 0: every stack is copied at once
  uint64_t capture_bytes_per_second = 0;  // per CPU
  uint32_t mappings_per_second = 0;       // per CPU, that captures may look at in the threads they are made in
  uint32_t process_ns_per_second = 0;     // that captures may take of a process's threads before they are switched off
};

// One thread, as the task iterator sees it.
struct TaskDescription {
  ProcessKey process;
  int32_t tid = 0;
  CodeVersion code;
  bool recorded = false;   // passes the filters, cgroups apart
  bool is_kernel = false;  // a kernel thread
};

// Which threads an iterator lists: all, those of a process, or one.
struct TaskScope {
  pid_t process = 0;
  pid_t tid = 0;
};

// What the BPF programs took, as far as the kernel measures them (kernel.bpf_stats_enabled); sums that only grow.
struct ProgramRuns {
  uint64_t ns = 0;        // of all that are attached
  uint64_t switches = 0;  // runs of the one at each switch
};

// What the BPF programs take, as they time some of their runs; sums that only grow.
struct ProgramTimes {
  uint64_t all_ns = 0;
  uint64_t recorded_ns = 0;  // of that, for waits that are recorded
  uint64_t waits = 0;        // about how many these were
};

class Programs {
 public:
  // Loads, attaches and seeds; nothing is recorded before Arm.
  static absl::StatusOr<std::unique_ptr<Programs>> Load(const ProgramsConfig& config, const KernelFeatures& features);
  // Only what lists and describes: nothing is attached, nothing can be recorded.
  static absl::StatusOr<std::unique_ptr<Programs>> LoadListing(const KernelFeatures& features);
  ~Programs();
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  void Arm();
  // Scheduler's clock minus CLOCK_MONOTONIC, which drift apart while recording goes on. Any thread.
  uint64_t clock_offset() const;
  void SetClockOffset(uint64_t offset);  // not after Disarm: the end that it then tells stays
  // Stops recording; what the rings hold stays to be drained. Which thread was in which wait stays to be listed.
  void Disarm();
  // After Disarm: who waits is listed once more. Threads that have ended before were not, and are counted.
  void BeginLastListing();
  // Waits for programs that began before Disarm; some 20 ms.
  void Settle();
  // Intervals that are alike come as sums. Without that the next two need not be called.
  bool SumsUp() const;
  // From now on no sum of intervals has some that end at `ns` or before and some that end later, as long as this
  // returns before then. Scheduler's clock.
  void CutSums(uint64_t ns);
  // Into the ring, what was added up by now. Returns how many sums found no room in it, and stay. Any thread.
  size_t FlushSums();

  // Gives every record of both rings to `record`, intervals and definitions first. Returns how many bytes there were.
  using RecordCallback = std::function<void(std::span<const std::byte> record)>;
  size_t Drain(const RecordCallback& record);
  // Returns true when code has been seen that was not known, which has to be looked at soon, when another
  // quarter of a ring of a sample is full, or when Hurry says so; false after `patience`. One thread.
  bool AwaitNews(std::chrono::milliseconds patience);
  void Hurry();

  // With its code hash and what it stands for.
  struct ProcessDescription {
    TaskDescription task;
    std::vector<CodeMapping> mappings;
  };
  std::optional<ProcessDescription> DescribeProcess(pid_t pid) const;
  absl::StatusOr<std::vector<TaskDescription>> ListTasks() const;
  // Threads that pass the filters (cgroups apart). With `min_off_ns`, only those that have been off the CPU for so long
  // by now, each once a wait. Their waits are those at `open_at_ns`, scheduler's clock; 0: now, or when recording
  // ended.
  absl::StatusOr<std::vector<WaitingThread>> ListThreads(const TaskScope& scope, uint64_t min_off_ns = 0,
                                                         uint64_t open_at_ns = 0) const;
  // Accounts of threads that have not ended.
  absl::StatusOr<std::vector<ThreadAccount>> ListAccounts() const;
  // From Arm to Disarm.
  RecordedSpan span() const;
  void SetStackHint(pid_t tid, const StackHint& hint);
  // A definition (of a kernel stack, of a code hash) was thrown away: it is to be sent again.
  void ForgetDefinition(uint64_t id);
  // That stacks and code are named under.
  wire_hash_key hash_key() const;
  // Does the BPF program that ends intervals walk user stacks? It walks by what TellWalk, called from one thread, has
  // told it.
  bool WalksUserStacks() const;
  void TellWalk(const ToldWalk& walk);
  void ForgetWalks();
  // What of it there is, rows and stacks. Any thread.
  struct ToldCounts {
    size_t rows = 0;
    size_t stacks = 0;
  };
  ToldCounts CountTold() const;

  // From now on the intervals of the user at each place are sampled if they are shorter than this; 0: all are
  // recorded. At most kMostThresholdNs each. Any thread.
  static constexpr uint64_t kMostThresholdNs = WIRE_SAMPLE_MOST_NS;
  void SetThresholds(std::span<const uint64_t> thresholds_ns);
  // What was recorded of the user at each place, from the start. Any thread.
  std::array<wire_user, WIRE_USERS> ReadUsers() const;

  // What a capture by task work costs its thread besides what WIRE_COUNT_CAPTURE_TIME counts, as measured at Load.
  uint64_t request_ns() const;

  Counters ReadCounters() const;
  // How many accounts of the ledger were neither sent nor listed. After ListAccounts these belong to threads that have
  // left the kernel's list of tasks but not yet their last CPU; each sends its account through the ring when it does.
  uint64_t CountOpenAccounts() const;
  ProgramRuns ReadRuns() const;
  ProgramTimes ReadTimes() const;

 private:
  struct Impl;
  explicit Programs(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_PROGRAMS_H_

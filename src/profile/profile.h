// One recording, or one window of it: where threads waited, its counters, and why stacks or time are missing. Plain
// data, never changed after the off-CPU table has made it; safe to read from any thread. Its code is addresses:
// named_profile.h is the same with names.
#ifndef OFFCPU_PROFILE_PROFILE_H_
#define OFFCPU_PROFILE_PROFILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "process/identity.h"
#include "process/module.h"
#include "process/service_name.h"
#include "profile/ledger.h"
#include "profile/profile_row.h"
#include "profile/run_queue_waits.h"
#include "profile/walk_miss.h"
#include "unwind/user_stack.h"

namespace offcpu {

// Why an interval has no user stack. Its time is kept under "[no user stack: reason]".
enum class NoUserStack : uint8_t {
  kNone,               // it has one
  kBudget,             // the captures of this CPU and second were spent
  kRingFull,           // the capture ring was full (or busy)
  kNoBuffer,           // every copy buffer was claimed
  kUnreadable,         // the top of the stack could not be copied
  kExiting,            // the thread was exiting
  kExec,               // the program was replaced before the stack was copied
  kPending,            // the thread was still inside the kernel when the recording ended
  kLost,               // the capture did not come in time
  kGone,               // the process ended before it could be looked at
  kTargetStuck,        // reading the process did not come back in time
  kUnreadableProcess,  // its maps or memory could not be read
  kChangingProcess,    // no two readings of its maps agreed
  kNotSeenLeaving,     // it left before the recording, or had not run yet, on a kernel where stacks are found then
  kSwitchedOff,        // captures had taken too much of the process's time: it has none for a while
  kOverload,           // the daemon's queue or the waiting room was full
  k32BitCode,          // it runs code of AArch32, whose stacks are not walked
  kUnsupported,        // this kernel offers no way to copy a user stack
  kStale,              // the thread ran while its stack was read from outside
  kKernelThread,       // it has none: nothing is lost
  kOnCpu,              // it is running: only a thread that waits can be read from outside
  kNotAsked,           // of a waker: the thread that it woke is not recorded, or had waited too short
};
inline constexpr int kNoUserStackCount = 22;
std::string_view Name(NoUserStack reason);  // "budget", "ring full", ...

struct ProcessInfo {
  ProcessKey key;
  std::string name;          // comm of its main thread; empty if that is not known
  std::string container;     // container id from its cgroup; empty if none
  std::string executable{};  // path of its program, as the process sees it; empty if that is not known
  ServiceNames service{};    // where they were asked for; in no file but OTLP
};

struct KernelStack {
  uint64_t id = 0;
  std::vector<uint64_t> addresses;  // leaf first; empty if the definition was lost
  bool overflow = false;            // stands for every stack that found no place in the table: "[other]"
  bool user_mode = false;           // there is none: the thread was in user mode

  bool is_lost() const { return addresses.empty() && !overflow && !user_mode; }
};

// A thread, or an interrupt, that ended a wait; indices into the profile.
struct Waker {
  bool interrupt = false;
  uint32_t process = 0;  // of a thread; 0 otherwise, as `comm` is
  uint32_t comm = 0;
  uint32_t kernel_stack = 0;
  uint32_t user_stack = 0;  // of an interrupt that of a kernel thread

  bool operator==(const Waker&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const Waker& waker) {
    return H::combine(std::move(h), waker.interrupt, waker.process, waker.comm, waker.kernel_stack, waker.user_stack);
  }
};

// The one that ended a wait, who had woken that one while the first was waiting for it, and so on: at most kMaxWakers.
// Empty: stands for all that found no place, "[other]".
using WakerChain = std::vector<Waker>;
inline constexpr size_t kMaxWakers = 4;

struct UserStackEntry {
  UserStack stack;  // empty if `missing` is not kNone, or `overflow`
  NoUserStack missing = NoUserStack::kNone;
  bool overflow = false;  // stands for every stack that found no place in the table: "[other]"
};

// A named loss or limit: how often, and how much time it stands for (0 where no time is lost with it).
struct Loss {
  std::string reason;
  uint64_t count = 0;
  uint64_t ns = 0;
};

// What happened on the way; every figure counts from the start of the recording.
struct ProfileStats {
  uint64_t intervals = 0;           // INTERVAL records received
  uint64_t cookies = 0;             // distinct cookies among them
  uint64_t captures = 0;            // CAPTURE records received
  uint64_t capture_ns = 0;          // that captures took of the threads they were made in
  uint64_t capture_longest_ns = 0;  // the longest of them, since the recording began
  uint64_t kernel_stacks = 0;       // KERNEL_STACK records received
  uint64_t walked_at_switch = 0;    // intervals whose user stacks BPF programs have walked: they need no capture
  uint64_t summed_at_switch = 0;    // of these, that they have added up with others like them
  uint64_t proven_walks = 0;        // such walks that a capture has shown to be right
  std::array<uint64_t, kWalkMissCount> walk_misses = {};  // walks of BPF programs that did not tell the stack
  uint64_t told_rows = 0;                                 // unwind rows that the BPF programs had at the end
  uint64_t told_stacks = 0;                               // user stacks that they knew then
  uint64_t live_stacks = 0;                               // stacks of waiting threads read from outside
  uint64_t walks = 0;                                     // user stacks walked
  uint64_t processes = 0;                                 // that have a row
  std::array<uint64_t, kEndReasonCount> walk_ends = {};
  std::array<uint64_t, kFrameSourceCount> frames_by_source = {};
  // Complete walks whose frames beyond the leaf all came from one source (index = FrameSource).
  std::array<uint64_t, kFrameSourceCount> complete_walks_by_source = {};
  // Intervals shorter than a time T are a sample. T is a process's own and changes: the least and the most there was;
  // 0: all intervals were recorded.
  uint64_t sample_ns = 0;
  uint64_t sample_most_ns = 0;
  uint64_t not_sampled = 0;       // intervals that did not come into it: their time is in the rows all the same
  uint64_t oncpu_period_ns = 0;   // what an on-CPU sample stands for; 0: none were taken
  uint64_t oncpu_samples = 0;     // SAMPLE records received
  uint64_t slept_throughout = 0;  // recorded threads that never ran and were only counted: not in the rows
  uint64_t suspended_ns = 0;      // of the host, between the start and the end
  uint64_t clock_forward_ns = 0;  // by which the time of day was set meanwhile
  uint64_t clock_back_ns = 0;
  // What recording has cost beside capture_ns, as CPU time, and what it might have.
  uint64_t own_programs_ns = 0;   // in BPF programs, without captures; an estimate, unless the kernel measures it
  uint64_t own_process_ns = 0;    // of the recorder's process
  uint64_t own_memory_bytes = 0;  // resident, at the end
  uint64_t host_cpu_ns = 0;       // that the host's CPUs had meanwhile: their number times the time
  uint64_t cpu_budget_ppm = 0;    // of that; 0: none, the sample is fixed
  RunQueueWaits run_queue;        // of waits that are over; in no file
  std::vector<Loss> losses;       // only those that happened
};

// The buckets that the times of rows are in: see time_buckets.h.
struct TimeGrid {
  uint64_t bucket_ns = 0;  // how wide each is; 0: no row has times
  int64_t begin_ns = 0;    // of bucket 0, since the start; below 0: before it

  bool operator==(const TimeGrid&) const = default;
};

// What a profile says beside its stacks and rows.
struct ProfileFacts {
  uint64_t start_unix_ns = 0;
  uint64_t start_boot_ns = 0;  // CLOCK_BOOTTIME; 0: not known, as of a file
  uint64_t duration_ns = 0;    // without what the host was suspended for
  TimeGrid times;
  std::string host;
  std::vector<ProcessInfo> processes;
  std::vector<std::string> comms;
  std::vector<WakerChain> wakers;           // empty if they were not asked for
  std::vector<std::string> control_groups;  // paths below the root of the hierarchy of version 2, as "/system.slice"
  std::vector<std::shared_ptr<const CodeObject>> code;  // every one that a frame is in
  std::vector<LedgerEntry> ledger;                      // one a thread, by process; empty if it was not asked for
  ProfileStats stats;
};

struct Profile : ProfileFacts {
  std::vector<KernelStack> kernel_stacks;
  std::vector<UserStackEntry> user_stacks;
  std::vector<ProfileRow> rows;
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_PROFILE_H_

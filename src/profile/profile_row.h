// A row of a profile: what tells it apart from the others, and what is added up in it. Plain values.
//
// This is the one place that lists what a row has. Two rows are one where their keys are equal; what is not in the key
// (the longest wait, standard errors) never keeps two apart.
#ifndef OFFCPU_PROFILE_PROFILE_ROW_H_
#define OFFCPU_PROFILE_PROFILE_ROW_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace offcpu {

// How a thread left the CPU. Names say what it waited for: see classify/wait_cause.h.
enum class WaitKind : uint8_t {
  kSleeping,   // S: waits and can be interrupted
  kDisk,       // D: waits and cannot be interrupted
  kStopped,    // T and t
  kPreempted,  // wanted to go on
  kYielded,    // sched_yield
  kThrottled,  // wanted to go on, but its control group had used up its CPU time (cpu.max)
  kOther,
  kOpen,     // still off the CPU when the recording ended: the wait is clipped there
  kRunning,  // it did not: samples of what it did on one
};
inline constexpr int kWaitKindCount = 9;
// "sleeping", "disk", "stopped", "preempted", "yielded", "throttled", "other", "open", "running"
std::string_view Name(WaitKind kind);

// Numbers of system calls: those of x86-64, whatever machine was recorded.
inline constexpr int32_t kNoSystemCall = -1;   // a fault, an interrupt, or a kernel thread
inline constexpr int32_t kSystemCalls = 1024;  // none is as large

// Rows of a profile are sorted by it, in the order of Fields. Indices are those of the profile's tables.
struct RowKey {
  uint32_t process = 0;
  int32_t tid = 0;  // 0: the threads of a process share rows
  uint32_t comm = 0;
  uint32_t kernel_stack = 0;
  uint32_t user_stack = 0;
  WaitKind kind = WaitKind::kSleeping;
  int32_t syscall = kNoSystemCall;  // of the kernel entry
  uint32_t waker = 0;               // index into Profile::wakers, plus 1; 0: not known, or nobody had to
  uint32_t control_group = 0;       // of the thread; as of wakers

  // With a member that is missing here it does not compile.
  auto Fields() const {
    const auto& [a, b, c, d, e, f, g, h, i] = *this;
    return std::tie(a, b, c, d, e, f, g, h, i);
  }
  bool operator==(const RowKey& other) const { return Fields() == other.Fields(); }
  bool operator<(const RowKey& other) const { return Fields() < other.Fields(); }
  template <typename H>
  friend H AbslHashValue(H h, const RowKey& key) {
    return H::combine(std::move(h), key.Fields());
  }
};

// That a sum may be: what pprof and OTLP can say. As nanoseconds 292 years.
inline constexpr uint64_t kMostSum = std::numeric_limits<int64_t>::max();

// To the nearest whole number, kMostSum at most. `amount`: 0 or more.
uint64_t Rounded(double amount);
inline uint64_t StandardError(double variance) { return Rounded(std::sqrt(variance)); }

// Sums over any number of intervals, or of on-CPU samples.
struct RowSums {
  uint64_t count = 0;
  uint64_t blocked_ns = 0;
  uint64_t runnable_ns = 0;
  uint64_t max_ns = 0;  // the longest interval
  // For a sample; 0 where every interval was recorded. An interval that was sampled stands for a number of them that is
  // not whole: what it has beyond one is here until the profile is finished, and in `count` then.
  double count_excess = 0;
  double count_variance = 0;
  double ns_variance = 0;  // of the time off the CPU, and of both parts of it, which vary together
  double blocked_variance = 0;
  double runnable_variance = 0;
  uint64_t sampled = 0;  // intervals that were sampled and stand for others; also 0 where a file does not tell
  uint64_t samples = 0;  // on-CPU, and only of the kind `running`
  uint64_t cpu_ns = 0;   // that they stand for

  // The sums of one interval. A wait that is cut into parts has sums of each part: `whole_ns` is the length of all of
  // it then, and 0 where nothing was cut off. If the whole is shorter than `sample_ns`, it was sampled and stands for
  // so much time.
  static RowSums OfWait(uint64_t blocked_ns, uint64_t runnable_ns, uint64_t whole_ns, uint64_t sample_ns);
  static RowSums OfSample(uint64_t cpu_ns);

  void Add(const RowSums& other);

  uint64_t total_ns() const { return blocked_ns + runnable_ns; }  // off the CPU
  uint64_t wall_ns() const { return total_ns() + cpu_ns; }
  uint64_t events() const { return count + samples; }
  // Standard errors.
  uint64_t count_error() const { return StandardError(count_variance); }
  uint64_t ns_error() const { return StandardError(ns_variance); }
};

struct ProfileRow : RowKey, RowSums {
  std::string times{};  // the sums by time buckets, as PackTimes makes them; empty: not known

  bool operator==(const ProfileRow&) const = delete;  // of keys, or of sums?
  const RowKey& key() const { return *this; }
  const RowSums& sums() const { return *this; }
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_PROFILE_ROW_H_

// Where all the time of a thread went: its life within a recording is what the scheduler charged it for, what was taken
// from it on its CPU, what it waited, and what is not in the profile, by reason. Each term is measured by itself; what
// is left over is an error of the measurement and is shown, not spread. Names of lost time come from losses.h. Files
// have its terms by their numbers (pprof/pprof_ledger.h), so one that is added is the last. Plain data.
#ifndef OFFCPU_PROFILE_LEDGER_H_
#define OFFCPU_PROFILE_LEDGER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace offcpu {

// Why time that a thread waited is not in the profile. (A sample stands for what it left out: that is not lost.)
enum class LostTime : uint8_t {
  kRingFull,      // of intervals
  kRingBusy,      // likewise
  kBelowMinWait,  // the filters, as what follows
  kAboveMaxWait,
  kOtherKind,
  kNotSelected,  // came to be recorded while it was off the CPU
  kGoneAtEnd,    // waited when the recording ended, and was dead before it could be listed
  kQueueFull,    // between the thread that drains the rings and the worker
};
inline constexpr size_t kLostTimeCount = 8;
std::string_view Name(LostTime loss);  // as the loss of the same reason

// Nanoseconds of one thread under one program.
struct LedgerEntry {
  uint32_t process = 0;  // index into Profile::processes
  int32_t tid = 0;
  std::string comm;
  uint64_t wall_ns = 0;  // from the start or its birth to the end or its death
  uint64_t on_cpu_ns = 0;
  uint64_t stolen_ns = 0;  // by interrupts and the hypervisor, while it was on a CPU
  uint64_t blocked_ns = 0;
  uint64_t runnable_ns = 0;
  std::array<uint64_t, kLostTimeCount> lost_ns = {};

  uint64_t lost_total_ns() const;
  // Wall time without all the terms; below 0 if they are more than there was.
  int64_t rest_ns() const;
};

// Adds the times of `from` to `to`.
void AddTimes(const LedgerEntry& from, LedgerEntry& to);

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_LEDGER_H_

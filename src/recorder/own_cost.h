// What recording costs the host: readings of what the kernel and the BPF programs count and time, and what lies between
// two of them. The kernel measures BPF programs only where somebody has switched that on (kernel.bpf_stats_enabled),
// because it costs each of them two readings of a clock. Elsewhere the BPF programs' own measure counts, which times
// some of their runs and is without what it takes to call them. The functions of two readings are pure; ReadCost reads
// /proc, and may be called from any thread.
#ifndef OFFCPU_RECORDER_OWN_COST_H_
#define OFFCPU_RECORDER_OWN_COST_H_

#include <cstdint>
#include <vector>

#include "bpf_programs/programs.h"
#include "recorder/user_costs.h"

namespace offcpu {

// Sums that only grow, but for the last.
struct CostReading {
  uint64_t at_ns = 0;             // CLOCK_MONOTONIC
  uint64_t process_ns = 0;        // CPU time of this process
  uint64_t threads_ns = 0;        // of that, what the threads took that drain and work
  uint64_t events_ns = 0;         // and of that, what they took for what was recorded
  uint64_t capture_ns = 0;        // that captures took of the threads they were made in, sleep included
  uint64_t request_ns = 0;        // that it took besides to have them made by task work
  uint64_t captures = 0;          // whose time that is
  uint64_t captures_at_once = 0;  // made within the BPF programs of switches
  uint64_t switches = 0;          // of the host; 0: not known
  uint64_t samples = 0;           // on-CPU
  ProgramTimes times;             // of the BPF programs
  uint64_t run_ns = 0;            // likewise, where the kernel measures it
  uint64_t runs = 0;              // of the one at each switch, likewise
  std::vector<UserWaits> users;
  uint64_t resident_bytes = 0;
};

// CPU time of the threads that drain and work.
struct ThreadTimes {
  uint64_t all_ns = 0;
  uint64_t events_ns = 0;  // for what was recorded
};
CostReading ReadCost(const Programs& programs, const ThreadTimes& threads);

// CPU time.
struct OwnCost {
  uint64_t programs_ns = 0;  // in BPF programs, captures apart
  uint64_t captures_ns = 0;
  uint64_t process_ns = 0;
  uint64_t threads_ns = 0;  // of that

  // Without what the process does for those who read profiles: that does not depend on what is recorded.
  uint64_t recording_ns() const { return programs_ns + captures_ns + threads_ns; }
};

OwnCost CostBetween(const CostReading& before, const CostReading& now);
// What depends on how many waits are recorded.
WaitCosts WaitCostsBetween(const CostReading& before, const CostReading& now);
std::vector<UserWaits> UsersBetween(const CostReading& before, const CostReading& now);
void AddCost(const OwnCost& from, OwnCost& to);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_OWN_COST_H_

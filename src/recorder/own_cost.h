// What recording costs the host: readings of what the kernel and the BPF programs count, and what lies between two of
// them. The kernel measures BPF programs only where somebody has switched that on (kernel.bpf_stats_enabled), because
// it costs each of them two readings of a clock. Elsewhere it is estimated: the number of switches, waits and samples,
// each times what one of them takes.
// CostBetween is pure; ReadCost reads /proc, and may be called from any thread.
#ifndef OFFCPU_RECORDER_OWN_COST_H_
#define OFFCPU_RECORDER_OWN_COST_H_

#include <cstdint>

namespace offcpu {

class Programs;

// Sums that only grow, but for the last.
struct CostReading {
  uint64_t at_ns = 0;             // CLOCK_MONOTONIC
  uint64_t process_ns = 0;        // CPU time of this process
  uint64_t threads_ns = 0;        // of that, what the threads took that drain and work
  uint64_t capture_ns = 0;        // that captures took of the threads they were made in, sleep included
  uint64_t request_ns = 0;        // that it took besides to have them made by task work
  uint64_t captures = 0;          // whose time that is
  uint64_t captures_at_once = 0;  // made within the BPF programs of switches
  uint64_t busy_ns = 0;           // of the host's CPUs; 0: not known
  uint64_t switches = 0;          // of the host; 0: not known
  uint64_t drawn = 0;             // waits that were recorded
  uint64_t not_drawn = 0;
  uint64_t samples = 0;  // on-CPU
  uint64_t run_ns = 0;   // of the BPF programs, where the kernel measures it
  uint64_t runs = 0;     // of the one at each switch, likewise
  uint64_t resident_bytes = 0;
};

// `intervals` that have come out of the rings so far, and `threads_ns` as above.
CostReading ReadCost(const Programs& programs, uint64_t intervals, uint64_t threads_ns);

// CPU time.
struct OwnCost {
  uint64_t programs_ns = 0;  // in BPF programs, captures apart
  uint64_t captures_ns = 0;
  uint64_t process_ns = 0;
  uint64_t threads_ns = 0;  // of that

  // Without what the process does for those who read profiles: that does not depend on what is drawn.
  uint64_t recording_ns() const { return programs_ns + captures_ns + threads_ns; }
};

OwnCost CostBetween(const CostReading& before, const CostReading& now, bool wakers);
void AddCost(const OwnCost& from, OwnCost& to);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_OWN_COST_H_

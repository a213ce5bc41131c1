// What recording each user has cost, as far as it depends on what the user's programs do: what the BPF programs do for
// each wait, captures, and what the worker makes of both, and of programs and processes that begin and end. Pure.
#ifndef OFFCPU_RECORDER_USER_COSTS_H_
#define OFFCPU_RECORDER_USER_COSTS_H_

#include <cstdint>
#include <span>
#include <vector>

namespace offcpu {

// What one user's programs did in some time.
struct UserWaits {
  uint64_t waits = 0;       // that were recorded
  uint64_t captures = 0;    // that were made for them
  uint64_t left_out = 0;    // waits that the programs looked at to find that they are not sampled
  uint64_t lifecycles = 0;  // programs that began, and processes that ended
};

// CPU seconds, in the same time.
struct WaitCosts {
  double programs = 0;  // BPF programs, captures apart
  double captures = 0;  // in the threads that they were made in
  double worker = 0;    // and drainer
};

// The cost of each user; they add up to `costs`, unless nothing was recorded at all.
std::vector<double> ShareCosts(std::span<const UserWaits> users, const WaitCosts& costs);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_USER_COSTS_H_

// What recording has cost since it began, and how the short waits of each user are sampled so that it keeps its budget,
// which is a part of all CPUs of the host. What does not depend on how many waits are recorded counts as cost, but
// lowers nothing: what the BPF programs take at each switch, and the threads that look for something to do. Where the
// sample is fixed, nothing is changed and the cost is only reported. One thread, but for threshold_ns.
#ifndef OFFCPU_RECORDER_COST_KEEPER_H_
#define OFFCPU_RECORDER_COST_KEEPER_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "profile/profile.h"
#include "recorder/own_cost.h"
#include "recorder/sampling_control.h"

namespace offcpu {

struct CostKeeperConfig {
  uint64_t budget_ppm = 0;  // of all CPUs
  uint32_t cpus = 1;
  bool adapts_sample = false;
};

class CostKeeper {
 public:
  // Recording begins.
  CostKeeper(const CostKeeperConfig& config, CostReading begin);

  // Is it time for an update? Twice a second at first, and every second later. CLOCK_MONOTONIC.
  bool IsDue(uint64_t now_ns) const;
  // Judges the cost since the last update. True if thresholds_ns changes. The first second lowers nothing: processes
  // are looked at, and their unwind tables are read.
  bool Update(CostReading now);
  // T of each user; see SamplingControl.
  std::vector<uint64_t> thresholds_ns() const { return control_.thresholds_ns(); }

  // The longest T of a user now; 0: all waits of all users are recorded, or the sample is fixed. Any thread.
  uint64_t threshold_ns() const { return threshold_ns_.load(std::memory_order_relaxed); }

  // A window ends: what was recorded in it has cost this.
  void Tell(CostReading now, ProfileStats& stats);

 private:
  void Add(CostReading&& now);
  bool Control(const CostReading& before, uint64_t elapsed_ns);
  uint64_t HostNs(uint64_t began_ns, uint64_t end_ns) const { return (end_ns - began_ns) * config_.cpus; }

  const CostKeeperConfig config_;
  std::atomic<uint64_t> threshold_ns_{0};
  CostReading last_;
  const uint64_t began_ns_;
  CostReading updated_;  // at the last update
  uint64_t window_began_ns_;
  OwnCost window_;                     // since the window began
  uint64_t longest_threshold_ns_ = 0;  // likewise
  SamplingControl control_;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_COST_KEEPER_H_

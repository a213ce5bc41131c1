// What recording has cost since it began, and how much is drawn so that it keeps its budget. In the first five seconds
// the budget is a part of all CPUs: somebody may be waiting for a short recording. After that it is a part of what the
// CPUs are busy with, because what is always on must not cost a host with little to do more than that part of what it
// does. Where the bound of the sample is fixed, nothing is changed and the cost is only told. Thread-safe; Tick is for
// one thread.
#ifndef OFFCPU_RECORDER_COST_KEEPER_H_
#define OFFCPU_RECORDER_COST_KEEPER_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>

#include "profile/profile.h"
#include "recorder/cpu_budget.h"
#include "recorder/own_cost.h"

namespace offcpu {

struct CostKeeperConfig {
  uint64_t budget_ppm = 0;  // of all CPUs
  uint32_t cpus = 1;
  uint32_t draws_per_second = 0;  // of all CPUs, at most; 0: what is drawn is fixed
  bool wakers = false;            // are recorded
};

class CostKeeper {
 public:
  struct Hooks {
    std::function<CostReading()> read;
    std::function<void(uint32_t draws_per_second)> set_draws;  // of all CPUs
  };
  // Recording begins.
  CostKeeper(const CostKeeperConfig& config, Hooks hooks);

  // Looks at the cost every second at first, and every five seconds from the fifteenth on. CLOCK_MONOTONIC.
  void Tick(uint64_t now_ns);

  // That are drawn now, a second and CPU, and at most; 0: what is drawn is fixed. It begins with fewer than the most
  // where these may cost more than the budget.
  uint32_t draws_per_cpu() const { return draws_per_cpu_.load(std::memory_order_relaxed); }
  uint32_t draws_per_cpu_most() const { return config_.draws_per_second / config_.cpus; }

  // A window ends: what was recorded in it has cost this.
  void Tell(ProfileStats& stats);

 private:
  // Between two instants; the second is the last reading.
  struct Stretch {
    uint64_t began_ns;
    OwnCost cost;
    uint64_t budgeted_ns = 0;  // CPU time that the budget is a part of
  };
  void Read();
  uint64_t HostNs(uint64_t began_ns, uint64_t end_ns) const { return (end_ns - began_ns) * config_.cpus; }

  uint64_t LookPeriodNs() const;
  uint64_t BudgetedNs(const CostReading& before, const CostReading& now) const;
  void SetDraws(uint32_t draws_per_cpu);

  const CostKeeperConfig config_;
  const Hooks hooks_;
  std::atomic<uint32_t> draws_per_cpu_{0};
  uint32_t first_draws_ = 0;
  std::mutex mutex_;
  CostReading last_;  // guarded by mutex_, as what follows is
  uint64_t began_ns_;
  Stretch look_;  // since the last one
  Stretch window_;
  std::optional<CpuBudget> budget_;
  uint32_t least_draws_ = 0;  // in the window
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_COST_KEEPER_H_

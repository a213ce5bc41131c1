#include "recorder/cost_keeper.h"

#include <algorithm>
#include <utility>

#include "recorder/user_costs.h"

namespace offcpu {
namespace {

constexpr uint64_t kUnjudgedNs = 1'000'000'000;
constexpr uint64_t kFirstLooksNs = 10'000'000'000;  // which come soon after each other
constexpr uint64_t kFirstLookPeriodNs = 500'000'000;
constexpr uint64_t kLookPeriodNs = 1'000'000'000;
constexpr double kNsPerSecond = 1e9;
constexpr double kPpm = 1e6;

double Seconds(uint64_t ns) { return static_cast<double>(ns) / kNsPerSecond; }

}  // namespace

CostKeeper::CostKeeper(const CostKeeperConfig& config, Hooks hooks)
    : config_(config),
      hooks_(std::move(hooks)),
      last_(hooks_.read()),
      began_ns_(last_.at_ns),
      looked_(last_),
      window_began_ns_(last_.at_ns),
      control_(last_.users.size()) {}

void CostKeeper::Read() {
  CostReading now = hooks_.read();
  AddCost(CostBetween(last_, now), window_);
  last_ = std::move(now);
}

void CostKeeper::Control(const CostReading& before, uint64_t elapsed_ns) {
  const std::vector<uint64_t> thresholds_ns = control_.thresholds_ns();
  const double budget = static_cast<double>(config_.budget_ppm) / kPpm * config_.cpus;
  control_.Look(ShareCosts(UsersBetween(before, last_), WaitCostsBetween(before, last_)), Seconds(elapsed_ns), budget);
  if (control_.thresholds_ns() == thresholds_ns) return;
  hooks_.set_thresholds(control_.thresholds_ns());
  threshold_ns_.store(control_.longest_ns(), std::memory_order_relaxed);
  longest_threshold_ns_ = std::max(longest_threshold_ns_, control_.longest_ns());
}

void CostKeeper::Tick(uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  const uint64_t period_ns = now_ns - began_ns_ < kFirstLooksNs ? kFirstLookPeriodNs : kLookPeriodNs;
  if (!config_.adapts_sample || now_ns < looked_.at_ns + period_ns) return;
  Read();
  if (last_.at_ns - began_ns_ > kUnjudgedNs) Control(looked_, last_.at_ns - looked_.at_ns);
  looked_ = last_;
}

void CostKeeper::Tell(ProfileStats& stats) {
  const std::lock_guard lock(mutex_);
  Read();
  stats.own_programs_ns = window_.programs_ns;
  stats.capture_ns = window_.captures_ns;
  stats.own_process_ns = window_.process_ns;
  stats.own_memory_bytes = last_.resident_bytes;
  stats.host_cpu_ns = HostNs(window_began_ns_, last_.at_ns);
  stats.cpu_budget_ppm = config_.adapts_sample ? config_.budget_ppm : 0;
  stats.sample_most_ns = std::max(stats.sample_most_ns, longest_threshold_ns_);
  window_ = {};
  window_began_ns_ = last_.at_ns;
  longest_threshold_ns_ = control_.longest_ns();
}

}  // namespace offcpu

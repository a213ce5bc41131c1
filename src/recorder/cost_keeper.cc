#include "recorder/cost_keeper.h"

#include <algorithm>
#include <utility>

#include "recorder/user_costs.h"

namespace offcpu {
namespace {

constexpr uint64_t kUnjudgedNs = 1'000'000'000;
constexpr uint64_t kFirstUpdatesNs = 10'000'000'000;  // which come soon after each other
constexpr uint64_t kFirstUpdatePeriodNs = 500'000'000;
constexpr uint64_t kUpdatePeriodNs = 1'000'000'000;
constexpr double kNsPerSecond = 1e9;
constexpr double kPpm = 1e6;

double Seconds(uint64_t ns) { return static_cast<double>(ns) / kNsPerSecond; }

}  // namespace

CostKeeper::CostKeeper(const CostKeeperConfig& config, CostReading begin)
    : config_(config),
      last_(std::move(begin)),
      began_ns_(last_.at_ns),
      updated_(last_),
      window_began_ns_(last_.at_ns),
      control_(last_.users.size()) {}

void CostKeeper::Add(CostReading&& now) {
  AddCost(CostBetween(last_, now), window_);
  last_ = std::move(now);
}

bool CostKeeper::Control(const CostReading& before, uint64_t elapsed_ns) {
  const std::vector<uint64_t> thresholds_ns = control_.thresholds_ns();
  const double budget = static_cast<double>(config_.budget_ppm) / kPpm * config_.cpus;
  control_.Update(ShareCosts(UsersBetween(before, last_), WaitCostsBetween(before, last_)), Seconds(elapsed_ns),
                  budget);
  if (control_.thresholds_ns() == thresholds_ns) return false;
  threshold_ns_.store(control_.longest_ns(), std::memory_order_relaxed);
  longest_threshold_ns_ = std::max(longest_threshold_ns_, control_.longest_ns());
  return true;
}

bool CostKeeper::IsDue(uint64_t now_ns) const {
  const uint64_t period_ns = now_ns - began_ns_ < kFirstUpdatesNs ? kFirstUpdatePeriodNs : kUpdatePeriodNs;
  return config_.adapts_sample && now_ns >= updated_.at_ns + period_ns;
}

bool CostKeeper::Update(CostReading now) {
  Add(std::move(now));
  const bool is_judged = last_.at_ns - began_ns_ > kUnjudgedNs;
  const bool changes = is_judged && Control(updated_, last_.at_ns - updated_.at_ns);
  updated_ = last_;
  return changes;
}

void CostKeeper::Tell(CostReading now, ProfileStats& stats) {
  Add(std::move(now));
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

#include "recorder/cost_keeper.h"

#include <algorithm>
#include <utility>

namespace offcpu {
namespace {

constexpr uint64_t kBeginningNs = 5'000'000'000;    // in which short recordings get what they can
constexpr uint64_t kFirstLooksNs = 15'000'000'000;  // which come soon after each other
constexpr uint64_t kFirstLookPeriodNs = 1'000'000'000;
constexpr uint64_t kLookPeriodNs = 5'000'000'000;
constexpr uint64_t kLeastBusy = 10;  // a CPU counts as busy for at least one part in so many
constexpr double kNsPerSecond = 1e9;
constexpr double kPpm = 1e6;

}  // namespace

CostKeeper::CostKeeper(const CostKeeperConfig& config, Hooks hooks)
    : config_(config),
      hooks_(std::move(hooks)),
      last_(hooks_.read()),
      began_ns_(last_.at_ns),
      look_{.began_ns = last_.at_ns, .cost = {}, .budgeted_ns = 0},
      window_(look_) {
  if (config.draws_per_second == 0) return;
  budget_.emplace(static_cast<double>(config.budget_ppm) / kPpm, static_cast<double>(draws_per_cpu_most()));
  first_draws_ = least_draws_ = budget_->draws();
  SetDraws(first_draws_);
}

uint64_t CostKeeper::LookPeriodNs() const {
  return last_.at_ns - began_ns_ < kFirstLooksNs ? kFirstLookPeriodNs : kLookPeriodNs;
}

uint64_t CostKeeper::BudgetedNs(const CostReading& before, const CostReading& now) const {
  const uint64_t host_ns = HostNs(before.at_ns, now.at_ns);
  if (now.at_ns - began_ns_ < kBeginningNs || now.busy_ns == 0) return host_ns;
  const uint64_t busy_ns = now.busy_ns - std::min(before.busy_ns, now.busy_ns);
  return std::clamp(busy_ns, host_ns / kLeastBusy, host_ns);
}

void CostKeeper::SetDraws(uint32_t draws_per_cpu) {
  draws_per_cpu_.store(draws_per_cpu, std::memory_order_relaxed);
  hooks_.set_draws(draws_per_cpu * config_.cpus);
}

void CostKeeper::Read() {
  const CostReading now = hooks_.read();
  const OwnCost cost = CostBetween(last_, now, config_.wakers);
  const uint64_t budgeted_ns = BudgetedNs(last_, now);
  for (Stretch* stretch : {&look_, &window_}) {
    AddCost(cost, stretch->cost);
    stretch->budgeted_ns += budgeted_ns;
  }
  last_ = now;
}

void CostKeeper::Tick(uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (!budget_.has_value() || now_ns < look_.began_ns + LookPeriodNs()) return;
  Read();
  budget_->Look(static_cast<double>(look_.cost.recording_ns()) / kNsPerSecond,
                static_cast<double>(look_.budgeted_ns) / kNsPerSecond);
  look_ = {.began_ns = last_.at_ns, .cost = {}, .budgeted_ns = 0};
  const uint32_t draws = budget_->draws();
  if (draws == draws_per_cpu()) return;
  SetDraws(draws);
  least_draws_ = std::min(least_draws_, draws);
}

void CostKeeper::Tell(ProfileStats& stats) {
  const std::lock_guard lock(mutex_);
  Read();
  stats.own_programs_ns = window_.cost.programs_ns;
  stats.capture_ns = window_.cost.captures_ns;
  stats.own_process_ns = window_.cost.process_ns;
  stats.own_memory_bytes = last_.resident_bytes;
  stats.host_cpu_ns = HostNs(window_.began_ns, last_.at_ns);
  stats.budgeted_cpu_ns = budget_.has_value() ? window_.budgeted_ns : 0;
  stats.cpu_budget_ppm = budget_.has_value() ? config_.budget_ppm : 0;
  stats.draws_lowered_to = least_draws_ < first_draws_ ? least_draws_ : 0;
  window_ = {.began_ns = last_.at_ns, .cost = {}, .budgeted_ns = 0};
  least_draws_ = draws_per_cpu();
}

}  // namespace offcpu

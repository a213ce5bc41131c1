#include "recorder/sampling_control.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace offcpu {
namespace {

constexpr double kMostRise = 8;    // of T at one update
constexpr double kMostFall = 0.5;  // likewise
constexpr double kIsEnough = 0.9;  // of what a user may cost: T stays as it is from here up to all of it
constexpr double kAlmostNothing = 1e-9;

uint64_t Scaled(uint64_t threshold_ns, double factor) {
  const double scaled_ns = static_cast<double>(threshold_ns) * factor;
  return static_cast<uint64_t>(std::min(scaled_ns, static_cast<double>(SamplingControl::kMostNs)));
}

}  // namespace

double FairLevel(std::span<const double> wants, double sum) {
  std::vector<double> sorted(wants.begin(), wants.end());
  std::sort(sorted.begin(), sorted.end());
  double left = sum;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const double level = left / static_cast<double>(sorted.size() - i);
    if (sorted[i] > level) return level;
    left -= sorted[i];
  }
  return sorted.empty() ? sum : sorted.back() + left;
}

uint64_t SamplingControl::longest_ns() const { return *std::max_element(thresholds_ns_.begin(), thresholds_ns_.end()); }

// What each could cost at the next update, if its T falls as far as it may: as much more as is sampled then, at most.
std::vector<double> SamplingControl::Wants(std::span<const double> costs) const {
  std::vector<double> wants(costs.begin(), costs.end());
  for (size_t user = 0; user < wants.size(); ++user) {
    if (thresholds_ns_[user] != 0) wants[user] /= kMostFall;
  }
  return wants;
}

void SamplingControl::Raise(std::span<const double> costs, double level) {
  for (size_t user = 0; user < costs.size(); ++user) {
    if (costs[user] <= level) continue;
    thresholds_ns_[user] = Scaled(std::max(thresholds_ns_[user], kFirstNs), std::min(costs[user] / level, kMostRise));
  }
}

void SamplingControl::Lower(std::span<const double> costs, double level) {
  for (size_t user = 0; user < costs.size(); ++user) {
    uint64_t& threshold_ns = thresholds_ns_[user];
    if (costs[user] >= kIsEnough * level) continue;
    threshold_ns = Scaled(threshold_ns, std::max(costs[user] / (kIsEnough * level), kMostFall));
    if (threshold_ns < kLeastNs) threshold_ns = 0;
  }
}

void SamplingControl::Update(std::span<const double> costs, double seconds, double budget) {
  const double cost = std::accumulate(costs.begin(), costs.end(), 0.0);
  const double may_cost = budget * seconds;
  const double level = std::max(FairLevel(Wants(costs), may_cost), kAlmostNothing);
  saved_ = std::min(saved_ + may_cost - cost, kSavedBudgets * budget);
  if (cost > may_cost && saved_ >= 0) return;
  if (cost > may_cost) {
    saved_ = 0;
    Raise(costs, level);
  }
  Lower(costs, level);
}

}  // namespace offcpu

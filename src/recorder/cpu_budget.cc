#include "recorder/cpu_budget.h"

#include <algorithm>
#include <cmath>

namespace offcpu {
namespace {

constexpr double kMostFall = 0.5;  // of the draws before, at one look
constexpr double kMostRise = 1.25;
constexpr double kIsEnough = 0.9;  // of the budget: draws stay as they are from here up to all of it

}  // namespace

CpuBudget::CpuBudget(double share, double most_draws)
    : share_(share),
      most_(most_draws),
      least_(std::min(kLeastDraws, most_draws)),
      draws_(std::min(kFirstDraws, most_draws)) {}

void CpuBudget::Look(double cost_seconds, double of_seconds) {
  const bool is_first = !has_looked_;
  has_looked_ = true;
  if (is_first || of_seconds <= 0) return;
  const double spent = cost_seconds / (of_seconds * share_);  // 1: all of the budget
  if (spent >= kIsEnough && spent <= 1) return;
  draws_ /= std::clamp(spent, 1 / kMostRise, 1 / kMostFall);
  draws_ = std::clamp(draws_, least_, most_);
}

uint32_t CpuBudget::draws() const { return static_cast<uint32_t>(std::lround(draws_)); }

}  // namespace offcpu

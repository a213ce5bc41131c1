#include "recorder/sampling_control.h"

#include <algorithm>
#include <array>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr double kBudget = 0.02;  // CPU seconds in a second

// A host of four users, whose waits cost in a second what is here if all are recorded, and none of which is longer than
// T: with T above their length, so much less.
struct Host {
  std::array<double, 4> exact = {};
  double length_ns = 20'000;  // of each wait

  std::vector<double> CostsWith(const std::vector<uint64_t>& thresholds_ns) const {
    std::vector<double> costs;
    for (size_t i = 0; i < exact.size(); ++i) {
      costs.push_back(exact[i] / std::max(1.0, static_cast<double>(thresholds_ns[i]) / length_ns));
    }
    return costs;
  }
  double SumWith(const std::vector<uint64_t>& thresholds_ns) const {
    double sum = 0;
    for (const double cost : CostsWith(thresholds_ns)) sum += cost;
    return sum;
  }
};

void Look(const Host& host, SamplingControl& control, int seconds) {
  for (int i = 0; i < seconds; ++i) control.Update(host.CostsWith(control.thresholds_ns()), 1, kBudget);
}

TEST(FairLevelTest, IsWhatIsLeftForEachOfThoseWhoWantMore) {
  EXPECT_DOUBLE_EQ(FairLevel(std::array{1.0, 8.0, 2.0, 9.0}, 11), 4) << "3 are taken, and 8 left for two";
  EXPECT_DOUBLE_EQ(FairLevel(std::array{5.0, 5.0}, 4), 2);
  EXPECT_DOUBLE_EQ(FairLevel(std::array{0.0, 0.0, 7.0}, 4), 4);
}

TEST(FairLevelTest, IsAboveAllWhereThereIsEnough) {
  EXPECT_DOUBLE_EQ(FairLevel(std::array{1.0, 2.0}, 10), 9);
  EXPECT_DOUBLE_EQ(FairLevel(std::array{1.0, 2.0}, 3), 2);
}

TEST(SamplingControlTest, RecordsAllWaitsWithinTheBudget) {
  SamplingControl control(4);
  Look({.exact = {0.005, 0.005, 0.005, 0.005}}, control, 100);
  EXPECT_THAT(control.thresholds_ns(), Each(0));
  EXPECT_EQ(control.longest_ns(), 0u);
}

TEST(SamplingControlTest, KeepsTheBudgetWithTheLeastT) {
  SamplingControl control(4);
  const Host host = {.exact = {0, 0.2, 0, 0}};
  Look(host, control, 10);
  // A tenth of the cost needs a T of ten times the length.
  EXPECT_THAT(control.thresholds_ns(),
              ElementsAre(0, ::testing::AllOf(::testing::Ge(200'000), ::testing::Le(223'000)), 0, 0));
  EXPECT_LE(host.SumWith(control.thresholds_ns()), kBudget * 1.001) << "T is whole nanoseconds";
  const std::vector<uint64_t> settled = control.thresholds_ns();
  Look(host, control, 100);
  EXPECT_EQ(control.thresholds_ns(), settled) << "it stays";
}

// Who costs little keeps all waits, whatever the others do.
TEST(SamplingControlTest, OnlyThoseWhoCostMostGive) {
  SamplingControl control(4);
  const Host host = {.exact = {0.003, 3, 0.2, 0.004}};
  Look(host, control, 100);
  EXPECT_EQ(control.thresholds_ns()[0], 0u);
  EXPECT_EQ(control.thresholds_ns()[3], 0u);
  EXPECT_LE(host.SumWith(control.thresholds_ns()), kBudget * 1.001) << "T is whole nanoseconds";
  const std::vector<double> costs = host.CostsWith(control.thresholds_ns());
  EXPECT_NEAR(costs[1], 0.0065, 0.0013) << "each of them has the half of what is left, or down to 0.9 of the budget";
  EXPECT_NEAR(costs[2], 0.0065, 0.0013);
}

// Programs that come and go cost what they cost with any T: beside them the others come back to all waits all the same.
TEST(SamplingControlTest, WhoCostsLittleComesBackBesideWhoCannotCostLess) {
  SamplingControl control(4);
  Look({.exact = {0.4, 0, 0, 0}}, control, 10);
  ASSERT_GT(control.thresholds_ns()[0], 0u);
  for (int i = 0; i < 20; ++i) {
    std::vector<double> costs = Host{.exact = {0.003, 0, 0.01, 0}}.CostsWith(control.thresholds_ns());
    costs[2] += 0.05;
    control.Update(costs, 1, kBudget);
  }
  EXPECT_THAT(control.thresholds_ns(), ElementsAre(0, 0, SamplingControl::kMostNs, 0));
}

// And those who would cost more than their share have it.
TEST(SamplingControlTest, WhoCostsMuchHasAShareBesideWhoCannotCostLess) {
  SamplingControl control(4);
  const Host host = {.exact = {0.2, 0, 0, 0}};
  for (int i = 0; i < 50; ++i) {
    std::vector<double> costs = host.CostsWith(control.thresholds_ns());
    costs[2] = 0.05;
    control.Update(costs, 1, kBudget);
  }
  const double cost = host.CostsWith(control.thresholds_ns())[0];
  EXPECT_GE(cost, 0.9 * kBudget / 2);
  EXPECT_LE(cost, 1.001 * kBudget / 2);
}

// Who has ended wants nothing any more.
TEST(SamplingControlTest, TheShareOfWhoCostsNothingIsThereForOthers) {
  SamplingControl control(4);
  Look({.exact = {0.4, 0, 0, 0.01}}, control, 10);
  ASSERT_GT(control.thresholds_ns()[0], 0u);
  ASSERT_EQ(control.thresholds_ns()[3], 0u);
  Look({.exact = {0, 0, 0, 0.02}}, control, 1);
  EXPECT_EQ(control.thresholds_ns()[3], 0u);
}

TEST(SamplingControlTest, ComesBackToAllWaits) {
  SamplingControl control(4);
  Look({.exact = {0, 0.4, 0, 0}}, control, 10);
  ASSERT_GT(control.longest_ns(), 0u);
  // From 400 us to less than 5 us by halves.
  Look({.exact = {0, 0.002, 0, 0}}, control, 7);
  EXPECT_THAT(control.thresholds_ns(), Each(0));
}

TEST(SamplingControlTest, TIsNeverLongerThanTheMost) {
  SamplingControl control(4);
  for (int i = 0; i < 100; ++i) control.Update(std::array{0.0, 500.0, 0.0, 0.0}, 1, kBudget);
  EXPECT_THAT(control.thresholds_ns(), ElementsAre(0, SamplingControl::kMostNs, 0, 0));
}

// Two seconds of the budget may have been saved: 20 seconds of half of it save no more.
TEST(SamplingControlTest, BurstThatWasSavedForLowersNothing) {
  SamplingControl control(4);
  for (int i = 0; i < 20; ++i) control.Update(std::array{0.01, 0.0, 0.0, 0.0}, 1, kBudget);
  control.Update(std::array{0.059, 0.0, 0.0, 0.0}, 1, kBudget);
  EXPECT_EQ(control.longest_ns(), 0u);
  control.Update(std::array{0.022, 0.0, 0.0, 0.0}, 1, kBudget);
  EXPECT_GT(control.longest_ns(), 0u) << "0.001 was left";
}

TEST(SamplingControlTest, LooksMayCoverAnyTime) {
  SamplingControl control(4);
  control.Update(std::array{0.009, 0.0, 0.0, 0.0}, 0.5, kBudget);
  EXPECT_EQ(control.longest_ns(), 0u);
  control.Update(std::array{0.012, 0.0, 0.0, 0.0}, 0.5, kBudget);
  EXPECT_GT(control.longest_ns(), 0u);
}

TEST(SamplingControlTest, BudgetOfNothingIsTheMostT) {
  SamplingControl control(1);
  for (int i = 0; i < 10; ++i) control.Update(std::array{0.01}, 1, 0);
  EXPECT_EQ(control.longest_ns(), SamplingControl::kMostNs);
}

}  // namespace
}  // namespace offcpu

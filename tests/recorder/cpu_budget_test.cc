#include "recorder/cpu_budget.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

constexpr double kHostSeconds = 20;  // 5 s of 4 CPUs
constexpr double kShare = 0.01;
constexpr double kBudget = 0.2;  // seconds: 0.01 of 20

// After the first look, which is not judged, and with `most_draws`.
CpuBudget Begun(double most_draws) {
  CpuBudget budget(kShare, most_draws);
  for (int i = 0; i < 10; ++i) budget.Look(0, kHostSeconds);
  return budget;
}

TEST(CpuBudgetTest, BeginsWithWhatCostsAboutOnePercentAndRises) {
  CpuBudget budget(kShare, 1000);
  EXPECT_EQ(budget.draws(), 250u);
  for (const uint32_t draws : {250u, 313u, 391u, 488u, 610u, 763u, 954u, 1000u, 1000u}) {
    budget.Look(0, kHostSeconds);
    EXPECT_EQ(budget.draws(), draws);
  }
}

TEST(CpuBudgetTest, TheFirstLookIsNotJudged) {
  CpuBudget budget(kShare, 200);
  EXPECT_EQ(budget.draws(), 200u);
  budget.Look(100 * kBudget, kHostSeconds);
  EXPECT_EQ(budget.draws(), 200u);
  budget.Look(100 * kBudget, kHostSeconds);
  EXPECT_EQ(budget.draws(), 100u);
}

TEST(CpuBudgetTest, FallsByTheExcessAndByHalfAtMost) {
  CpuBudget budget = Begun(1000);
  budget.Look(1.25 * kBudget, kHostSeconds);
  EXPECT_EQ(budget.draws(), 800u);
  budget.Look(2 * kBudget, kHostSeconds);
  EXPECT_EQ(budget.draws(), 400u);
  budget.Look(3 * kBudget, kHostSeconds);
  EXPECT_EQ(budget.draws(), 200u);
}

TEST(CpuBudgetTest, HasAFloor) {
  CpuBudget budget = Begun(200);
  for (const uint32_t draws : {100u, 50u, 25u, 13u, 10u, 10u}) {
    budget.Look(100, kHostSeconds);
    EXPECT_EQ(budget.draws(), draws);
  }
  CpuBudget less = Begun(4);
  less.Look(100, kHostSeconds);
  EXPECT_EQ(less.draws(), 4u) << "what is drawn at most is less";
}

TEST(CpuBudgetTest, RisesByAQuarterAtMostUpToTheMost) {
  CpuBudget budget = Begun(200);
  for (int i = 0; i < 5; ++i) budget.Look(100, kHostSeconds);
  for (const uint32_t draws : {13u, 16u, 20u, 24u, 31u}) {
    budget.Look(0, kHostSeconds);
    EXPECT_EQ(budget.draws(), draws);
  }
  for (int i = 0; i < 20; ++i) budget.Look(0, kHostSeconds);
  EXPECT_EQ(budget.draws(), 200u);
}

TEST(CpuBudgetTest, RisesByNoMoreThanThereIsRoomFor) {
  CpuBudget budget = Begun(1000);
  budget.Look(2 * kBudget, kHostSeconds);
  budget.Look(0.85 * kBudget, kHostSeconds);
  EXPECT_EQ(budget.draws(), 588u);  // 500 / 0.85
}

TEST(CpuBudgetTest, StaysWhereTheBudgetIsUsedUp) {
  CpuBudget budget = Begun(1000);
  budget.Look(2 * kBudget, kHostSeconds);
  for (const double spent : {0.91, 0.95, 1.0}) {
    budget.Look(spent * kBudget, kHostSeconds);
    EXPECT_EQ(budget.draws(), 500u) << spent;
  }
}

TEST(CpuBudgetTest, NoTimeIsNoLook) {
  CpuBudget budget = Begun(200);
  budget.Look(1, 0);
  EXPECT_EQ(budget.draws(), 200u);
}

// A part that no draw changes, and a part for each draw.
TEST(CpuBudgetTest, FindsTheDrawsThatTheBudgetAllows) {
  CpuBudget budget = Begun(1000);
  for (int i = 0; i < 30; ++i) budget.Look(kBudget * (0.5 + budget.draws() / 200.0), kHostSeconds);
  EXPECT_GE(budget.draws(), 80u);  // where it costs 0.9 of the budget
  EXPECT_LE(budget.draws(), 101u);
}

}  // namespace
}  // namespace offcpu

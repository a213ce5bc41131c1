#include "process/memory_budget.h"

#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

class MemoryBudgetTest : public ::testing::Test {
 protected:
  MemoryLease Of(uid_t owner) { return {budget_, owner}; }
  static size_t Fill(MemoryLease& lease) {
    while (lease.Grow(1)) {
    }
    return lease.bytes();
  }

  std::shared_ptr<MemoryBudget> budget_ = std::make_shared<MemoryBudget>(1000);
};

TEST_F(MemoryBudgetTest, OneAloneHasThreeQuartersAtMost) {
  MemoryLease lease = Of(1);
  EXPECT_TRUE(lease.Grow(750));
  EXPECT_FALSE(lease.Grow(3));
  EXPECT_EQ(lease.bytes(), 750u);
  EXPECT_EQ(budget_->stats().bytes, 750u);
  EXPECT_EQ(budget_->stats().refused, 1u);
  lease.Shrink(50);
  EXPECT_TRUE(lease.Grow(50));
}

TEST_F(MemoryBudgetTest, TheOneWhoHoldsTheMostIsToldNoFirst) {
  MemoryLease attacker = Of(1000);
  const size_t most = Fill(attacker);
  EXPECT_GE(most, 750u);
  MemoryLease victim = Of(0);
  EXPECT_TRUE(victim.Grow(150)) << "three quarters of what was left";
  EXPECT_FALSE(attacker.Grow(1));
  attacker.Shrink(most - 440);
  EXPECT_GE(Fill(victim), 420u) << "three quarters of what the other has left";
  EXPECT_EQ(budget_->stats().dearest, 1000u);
  EXPECT_EQ(budget_->stats().dearest_bytes, 440u);
}

TEST_F(MemoryBudgetTest, ThereIsSomeForEachNewcomer) {
  std::vector<MemoryLease> all;
  for (uid_t uid = 0; uid < 3; ++uid) EXPECT_GT(Fill(all.emplace_back(Of(uid))), 10u) << uid;
}

TEST_F(MemoryBudgetTest, LeasesOfOneUserAreOneAccount) {
  MemoryLease a = Of(1);
  MemoryLease b = a.Another();
  EXPECT_EQ(b.owner(), 1u);
  EXPECT_TRUE(a.Grow(400));
  EXPECT_FALSE(b.Grow(400));
  EXPECT_TRUE(b.Grow(300));
}

TEST_F(MemoryBudgetTest, IsGivenBack) {
  {
    MemoryLease a = Of(1);
    EXPECT_TRUE(a.Grow(700));
    MemoryLease b = std::move(a);
    EXPECT_EQ(budget_->stats().bytes, 700u);
    a = Of(1);
    b = std::move(a);
    EXPECT_EQ(budget_->stats().bytes, 0u);
    EXPECT_TRUE(b.Grow(700));
  }
  EXPECT_EQ(budget_->stats().bytes, 0u);
  EXPECT_EQ(budget_->stats().dearest_bytes, 0u);
}

TEST_F(MemoryBudgetTest, TooMuchIsTooMuch) {
  MemoryLease lease = Of(1);
  EXPECT_FALSE(lease.Grow(SIZE_MAX));
  EXPECT_FALSE(lease.Grow(1001));
  EXPECT_TRUE(lease.Grow(1));
}

TEST_F(MemoryBudgetTest, TheLimitMayChange) {
  MemoryLease lease = Of(1);
  ASSERT_TRUE(lease.Grow(600));
  budget_->SetLimit(500);
  EXPECT_FALSE(lease.Grow(1));
  EXPECT_EQ(lease.bytes(), 600u) << "what is held stays";
  EXPECT_FALSE(Of(2).Grow(1));
  budget_->SetLimit(2000);
  EXPECT_TRUE(lease.Grow(900));
}

TEST_F(MemoryBudgetTest, WithoutABudgetAllIsGranted) {
  MemoryLease lease;
  EXPECT_TRUE(lease.Grow(size_t{1} << 40));
  lease.Shrink(1);
  EXPECT_EQ(lease.bytes(), (size_t{1} << 40) - 1);
}

}  // namespace
}  // namespace offcpu

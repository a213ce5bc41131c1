#include "recorder/user_costs.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(UserCostsTest, ProgramsAreSharedByWaitsAndCapturesByCaptures) {
  const std::vector<UserWaits> users = {{.waits = 30, .captures = 0}, {.waits = 10, .captures = 2}, {}};
  EXPECT_THAT(ShareCosts(users, {.programs = 4, .captures = 7}), ElementsAre(DoubleEq(3), DoubleEq(1 + 7), 0));
}

// A capture is as much work as 200 waits.
TEST(UserCostsTest, WorkOfTheWorkerIsSharedByBoth) {
  const std::vector<UserWaits> users = {{.waits = 600, .captures = 0}, {.waits = 0, .captures = 1}};
  EXPECT_THAT(ShareCosts(users, {.worker = 8}), ElementsAre(DoubleEq(6), DoubleEq(2)));
}

TEST(UserCostsTest, WhatIsLookedAtAndLeftOutIsATwentiethOfAWait) {
  const std::vector<UserWaits> users = {{.waits = 60}, {.left_out = 400}};
  EXPECT_THAT(ShareCosts(users, {.programs = 8, .worker = 5}), ElementsAre(DoubleEq(6 + 5), DoubleEq(2)));
}

// So is a program that begins, or a process that ends.
TEST(UserCostsTest, WhoLetsProgramsComeAndGoPaysForThem) {
  const std::vector<UserWaits> users = {{.waits = 600, .captures = 0}, {.waits = 0, .captures = 0, .lifecycles = 1}};
  EXPECT_THAT(ShareCosts(users, {.programs = 5, .worker = 8}), ElementsAre(DoubleEq(5 + 6), DoubleEq(2)));
}

TEST(UserCostsTest, AddUpToWhatWasSpent) {
  const std::vector<UserWaits> users = {{.waits = 7, .captures = 3}, {.waits = 1000, .captures = 1}, {.waits = 1}};
  double sum = 0;
  for (const double cost : ShareCosts(users, {.programs = 1, .captures = 2, .worker = 3})) sum += cost;
  EXPECT_NEAR(sum, 6, 1e-9);
}

TEST(UserCostsTest, WhereNothingWasRecordedNobodyPays) {
  EXPECT_THAT(ShareCosts(std::vector<UserWaits>(2), {.programs = 1, .captures = 2, .worker = 3}), ElementsAre(0, 0));
  EXPECT_THAT(ShareCosts({}, {.programs = 1}), IsEmpty());
}

}  // namespace
}  // namespace offcpu

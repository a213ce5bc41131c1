#include "profile/profile_row.h"

#include <cstdint>

#include "absl/hash/hash_testing.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

// That none is left out the compiler sees.
TEST(RowKeyTest, MembersTellRowsApartTheFirstBeforeTheOthers) {
  EXPECT_LT(RowKey(), RowKey{.control_group = 1});
  EXPECT_LT(RowKey{.control_group = 9}, RowKey{.kind = WaitKind::kOther});
  EXPECT_LT(RowKey{.kind = WaitKind::kOther}, RowKey{.process = 1});
}

TEST(RowKeyTest, HashesAgreeWithEquality) {
  EXPECT_TRUE(absl::VerifyTypeImplementsAbslHashCorrectly(
      {RowKey(), RowKey{.process = 1}, RowKey{.tid = 1}, RowKey{.comm = 1}, RowKey{.kernel_stack = 1},
       RowKey{.user_stack = 1}, RowKey{.kind = WaitKind::kOpen}, RowKey{.syscall = 1}, RowKey{.waker = 1},
       RowKey{.control_group = 1}}));
}

TEST(RowSumsTest, ErrorsEndAtWhatASumMayBe) {
  EXPECT_EQ(Rounded(0.5), 1u);
  EXPECT_EQ(Rounded(0x1p63 - 1024), kMostSum - 1023) << "the last number below it";
  EXPECT_EQ(Rounded(0x1p63), kMostSum);
  EXPECT_EQ(Rounded(1e300), kMostSum);
  EXPECT_EQ(RowSums({.ns_variance = 0x1p126}).ns_error(), kMostSum);
}

TEST(RowSumsTest, AWaitThatWasNotSampledStandsForItself) {
  const RowSums sums = RowSums::OfWait(300, 100, 0, 0);
  EXPECT_EQ(sums.count, 1u);
  EXPECT_EQ(sums.blocked_ns, 300u);
  EXPECT_EQ(sums.runnable_ns, 100u);
  EXPECT_EQ(sums.max_ns, 400u);
  EXPECT_EQ(sums.ns_error(), 0u);
}

TEST(RowSumsTest, AWaitOfASampleStandsForOthers) {
  const RowSums sums = RowSums::OfWait(300, 100, 0, 1000);  // sampled with p = 0.4: it stands for 2.5 of its length
  EXPECT_EQ(sums.blocked_ns, 750u);
  EXPECT_EQ(sums.runnable_ns, 250u);
  EXPECT_EQ(sums.max_ns, 400u) << "there was none of 1000";
  EXPECT_EQ(sums.count, 1u);
  EXPECT_DOUBLE_EQ(sums.count_excess, 1.5);
  EXPECT_DOUBLE_EQ(sums.count_variance, 0.6 / 0.16);
  EXPECT_DOUBLE_EQ(sums.ns_variance, 0.6 * 1000 * 1000);
  EXPECT_EQ(sums.ns_error(), 775u);
}

// What of an interval lies in another window is not in this one, and yet it was sampled for its whole length.
TEST(RowSumsTest, APartOfASampledWaitHasTheWeightOfTheWhole) {
  const RowSums sums = RowSums::OfWait(60, 40, 400, 1000);  // sampled with p = 0.4
  EXPECT_EQ(sums.blocked_ns, 150u);
  EXPECT_EQ(sums.runnable_ns, 100u);
  EXPECT_EQ(sums.max_ns, 100u);
  EXPECT_DOUBLE_EQ(sums.count_excess, 1.5);
  EXPECT_DOUBLE_EQ(sums.count_variance, 0.6 / 0.16);
  EXPECT_DOUBLE_EQ(sums.ns_variance, 0.6 * 250 * 250);
}

TEST(RowSumsTest, AShortPartOfALongWaitIsItself) {
  const RowSums sums = RowSums::OfWait(60, 40, 1000, 1000);
  EXPECT_EQ(sums.total_ns(), 100u);
  EXPECT_EQ(sums.count, 1u);
  EXPECT_EQ(sums.count_excess, 0);
  EXPECT_EQ(sums.ns_error(), 0u);
}

TEST(RowSumsTest, LongWaitsOfASampleAndThoseOfNoLengthAreThemselves) {
  EXPECT_EQ(RowSums::OfWait(900, 100, 0, 1000).total_ns(), 1000u);
  EXPECT_EQ(RowSums::OfWait(900, 100, 0, 1000).ns_error(), 0u);
  EXPECT_EQ(RowSums::OfWait(0, 0, 0, 1000).count_excess, 0);
}

TEST(RowSumsTest, SamplesAreNoWaits) {
  const RowSums sums = RowSums::OfSample(10);
  EXPECT_EQ(sums.count, 0u);
  EXPECT_EQ(sums.samples, 1u);
  EXPECT_EQ(sums.events(), 1u);
  EXPECT_EQ(sums.total_ns(), 0u);
  EXPECT_EQ(sums.wall_ns(), 10u);
}

TEST(RowSumsTest, AllButTheLongestAddUp) {
  RowSums sums = RowSums::OfWait(300, 100, 0, 1000);
  sums.Add(RowSums::OfWait(100, 0, 0, 1000));  // p = 0.1
  sums.Add(RowSums::OfSample(7));
  EXPECT_EQ(sums.count, 2u);
  EXPECT_EQ(sums.blocked_ns, 1750u);
  EXPECT_EQ(sums.runnable_ns, 250u);
  EXPECT_EQ(sums.max_ns, 400u);
  EXPECT_DOUBLE_EQ(sums.count_excess, 10.5);
  EXPECT_DOUBLE_EQ(sums.count_variance, 0.6 / 0.16 + 0.9 / 0.01);
  EXPECT_DOUBLE_EQ(sums.ns_variance, 1.5e6);
  EXPECT_EQ(sums.samples, 1u);
  EXPECT_EQ(sums.cpu_ns, 7u);
}

}  // namespace
}  // namespace offcpu

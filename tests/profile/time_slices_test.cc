#include "profile/time_slices.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;

constexpr uint64_t kSecond = 1'000'000'000;

MATCHER_P3(SliceIs, column, blocked_ns, runnable_ns, "") {
  return arg.column == column && arg.blocked_ns == blocked_ns && arg.runnable_ns == runnable_ns;
}

// A wait that ended at `end_ns` and stands for `sums`.
Stretch Wait(uint64_t end_ns, uint64_t blocked_ns, uint64_t runnable_ns, const RowSums& sums) {
  return {.end_ns = end_ns, .blocked_ns = blocked_ns, .runnable_ns = runnable_ns, .sums = TimeSlice::Of(0, sums)};
}
Stretch Wait(uint64_t end_ns, uint64_t blocked_ns, uint64_t runnable_ns) {
  return Wait(end_ns, blocked_ns, runnable_ns, RowSums::OfWait(blocked_ns, runnable_ns, 0, 0));
}

std::vector<TimeSlice> SpreadOver(const Stretch& stretch, uint64_t column_ns = kSecond) {
  std::vector<TimeSlice> slices;
  SpreadOut(stretch, column_ns, [&](const TimeSlice& slice) { slices.push_back(slice); });
  return slices;
}

std::vector<TimeSlice> ListOf(const TimeSlices& slices) { return {slices.begin(), slices.end()}; }

TEST(TimeSlicesTest, AWaitLiesInTheSecondsThatItLasts) {
  const auto slices = SpreadOver(Wait(12 * kSecond + 500, 1'500'000'000, 0));
  EXPECT_THAT(slices, ElementsAre(SliceIs(10u, 499'999'500u, 0u), SliceIs(11u, kSecond, 0u), SliceIs(12u, 500u, 0u)));
  EXPECT_EQ(slices[0].count + slices[1].count, 0u);
  EXPECT_EQ(slices[2].count, 1u) << "it counts where it ends";
}

TEST(TimeSlicesTest, ItIsBlockedBeforeItIsRunnable) {
  EXPECT_THAT(SpreadOver(Wait(4 * kSecond, 1'500'000'000, 1'000'000'000)),
              ElementsAre(SliceIs(1u, 500'000'000u, 0u), SliceIs(2u, kSecond, 0u), SliceIs(3u, 0u, kSecond)));
}

TEST(TimeSlicesTest, WhatEndsWithASecondIsOfThatSecond) {
  EXPECT_THAT(SpreadOver(Wait(3 * kSecond, 7, 1)), ElementsAre(SliceIs(2u, 7u, 1u)));
  EXPECT_THAT(SpreadOver(Wait(3 * kSecond, kSecond, 0)), ElementsAre(SliceIs(2u, kSecond, 0u)));
  EXPECT_THAT(SpreadOver(Wait(3 * kSecond + 1, 7, 1)), ElementsAre(SliceIs(2u, 7u, 0u), SliceIs(3u, 0u, 1u)));
}

// It lasted 2 s from 0.5 s on, and stands for ten times as much.
TEST(TimeSlicesTest, WhatWasDrawnStandsForMoreWhereItWas) {
  const RowSums sums = RowSums::OfWait(2 * kSecond, 0, 0, 20 * kSecond);
  const auto slices = SpreadOver(Wait(2'500'000'000, 2 * kSecond, 0, sums));
  EXPECT_THAT(slices,
              ElementsAre(SliceIs(0u, 5 * kSecond, 0u), SliceIs(1u, 10 * kSecond, 0u), SliceIs(2u, 5 * kSecond, 0u)));
  EXPECT_EQ(slices[2].count, 1u);
  EXPECT_DOUBLE_EQ(slices[2].count_excess, 9);
}

TEST(TimeSlicesTest, NothingIsLostWhateverItStandsFor) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t blocked_ns = random() % (5 * kSecond);
    const uint64_t runnable_ns = random() % (3 * kSecond);
    const RowSums sums = RowSums::OfWait(blocked_ns, runnable_ns, 0, random() % (30 * kSecond));
    TimeSlice all;
    for (const TimeSlice& slice :
         SpreadOver(Wait(8 * kSecond + random() % (9 * kSecond), blocked_ns, runnable_ns, sums)))
      all.Add(slice);
    ASSERT_EQ(all.blocked_ns, sums.blocked_ns);
    ASSERT_EQ(all.runnable_ns, sums.runnable_ns);
    ASSERT_EQ(all.count, sums.count);
  }
}

// More than there was before its end, and an end at 0.
TEST(TimeSlicesTest, TimeDoesNotGoBelowZero) {
  EXPECT_THAT(SpreadOver(Wait(5, 100, 0)), ElementsAre(SliceIs(0u, 100u, 0u)));
  EXPECT_THAT(SpreadOver(Wait(0, 100, 0)), ElementsAre(SliceIs(0u, 100u, 0u)));
}

TEST(TimeSlicesTest, SlicesAreInOrderHoweverTheyCome) {
  TimeSlices slices;
  for (const uint32_t column : {5u, 7u, 3u, 5u, 7u, 9u, 3u}) slices.Add({.column = column, .blocked_ns = column});
  EXPECT_THAT(ListOf(slices),
              ElementsAre(SliceIs(3u, 6u, 0u), SliceIs(5u, 10u, 0u), SliceIs(7u, 14u, 0u), SliceIs(9u, 9u, 0u)));
  slices.Widen();
  EXPECT_THAT(ListOf(slices),
              ElementsAre(SliceIs(1u, 6u, 0u), SliceIs(2u, 10u, 0u), SliceIs(3u, 14u, 0u), SliceIs(4u, 9u, 0u)));
  slices.Widen();
  EXPECT_THAT(ListOf(slices), ElementsAre(SliceIs(0u, 6u, 0u), SliceIs(1u, 24u, 0u), SliceIs(2u, 9u, 0u)));
}

const std::string kPacked(
    "\x13"          // 2 columns after the first one, 3 figures
    "\xac\x02"      // blocked: 300
    "\x00"          // runnable: 0
    "\x01"          // count: 1
    "\x01"          // the next column, 1 figure
    "\x05"          // blocked: 5
    "\x15"          // 2 columns between, 5 figures
    "\x00\x00\x00"  // no wait
    "\x80\x01"      // on the CPU: 128
    "\x02",         // samples: 2
    14);

TEST(TimeSlicesTest, IsPackedIntoAFewBytes) {
  TimeSlices slices;
  slices.Add({.column = 1002, .blocked_ns = 300, .count = 1});
  slices.Add({.column = 1003, .blocked_ns = 5});
  slices.Add({.column = 1006, .cpu_ns = 128, .samples = 2});
  EXPECT_EQ(PackTimes(slices, 1000, 0), kPacked);
  const auto unpacked = UnpackTimes(kPacked);
  ASSERT_TRUE(unpacked.has_value());
  ASSERT_THAT(*unpacked, ElementsAre(SliceIs(2u, 300u, 0u), SliceIs(3u, 5u, 0u), SliceIs(6u, 0u, 0u)));
  EXPECT_EQ((*unpacked)[0].count, 1u);
  EXPECT_EQ((*unpacked)[2].cpu_ns, 128u);
  EXPECT_EQ((*unpacked)[2].samples, 2u);
}

TEST(TimeSlicesTest, PartsOfItAreWholeSlicesOrDamage) {
  for (size_t length = 0; length < kPacked.size(); ++length) {
    const auto unpacked = UnpackTimes(kPacked.substr(0, length));
    const bool is_whole = length == 0 || length == 5 || length == 7;
    EXPECT_EQ(unpacked.has_value(), is_whole) << length;
  }
}

TEST(TimeSlicesTest, NumbersHoldAllThatTheyMay) {
  TimeSlices slices;
  slices.Add({.column = UINT32_MAX, .blocked_ns = UINT64_MAX});
  const auto unpacked = UnpackTimes(PackTimes(slices, 0, 0));
  ASSERT_TRUE(unpacked.has_value());
  EXPECT_THAT(*unpacked, ElementsAre(SliceIs(UINT32_MAX, UINT64_MAX, 0u)));
  const std::string last = PackTimes(slices, 0, 0);
  EXPECT_FALSE(UnpackTimes(last + '\0').has_value()) << "a column after the last one";
  EXPECT_FALSE(UnpackTimes("\x06\x01\x01\x01\x01\x01\x01").has_value()) << "six figures";
  EXPECT_FALSE(UnpackTimes("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02").has_value()) << "65 bits";
  EXPECT_FALSE(UnpackTimes("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").has_value()) << "eleven bytes";
}

// Four waits that stand for 1.4 each are 6 (5.6), and the columns add up to that.
TEST(TimeSlicesTest, PartsOfCountsAreRoundedSoThatTheyAddUp) {
  TimeSlices slices;
  for (uint32_t column = 0; column < 4; ++column)
    slices.Add({.column = column, .blocked_ns = 1, .count = 1, .count_excess = 0.4});
  const auto unpacked = UnpackTimes(PackTimes(slices, 0, 2));
  ASSERT_TRUE(unpacked.has_value());
  std::vector<uint64_t> counts;
  for (const TimeSlice& slice : *unpacked) counts.push_back(slice.count);
  EXPECT_THAT(counts, ElementsAre(1, 2, 1, 2)) << "0.4, 0.8, 1.2 and 1.6 are 0, 1, 1 and 2";
}

}  // namespace
}  // namespace offcpu

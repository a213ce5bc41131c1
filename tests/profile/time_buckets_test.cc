#include "profile/time_buckets.h"

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

MATCHER_P3(BucketIs, number, blocked_ns, runnable_ns, "") {
  return arg.number == number && arg.blocked_ns == blocked_ns && arg.runnable_ns == runnable_ns;
}

// A wait that ended at `end_ns` and stands for `sums`.
Stretch Wait(uint64_t end_ns, uint64_t blocked_ns, uint64_t runnable_ns, const RowSums& sums) {
  return {.end_ns = end_ns, .blocked_ns = blocked_ns, .runnable_ns = runnable_ns, .sums = TimeBucket::Of(0, sums)};
}
Stretch Wait(uint64_t end_ns, uint64_t blocked_ns, uint64_t runnable_ns) {
  return Wait(end_ns, blocked_ns, runnable_ns, RowSums::OfWait(blocked_ns, runnable_ns, 0, 0));
}

std::vector<TimeBucket> SpreadOver(const Stretch& stretch, uint64_t bucket_ns = kSecond) {
  std::vector<TimeBucket> buckets;
  SpreadOut(stretch, bucket_ns, [&](const TimeBucket& bucket) { buckets.push_back(bucket); });
  return buckets;
}

std::vector<TimeBucket> ListOf(const TimeBuckets& buckets) { return {buckets.begin(), buckets.end()}; }

TEST(TimeBucketsTest, AWaitLiesInTheSecondsThatItLasts) {
  const auto buckets = SpreadOver(Wait(12 * kSecond + 500, 1'500'000'000, 0));
  EXPECT_THAT(buckets,
              ElementsAre(BucketIs(10u, 499'999'500u, 0u), BucketIs(11u, kSecond, 0u), BucketIs(12u, 500u, 0u)));
  EXPECT_EQ(buckets[0].count + buckets[1].count, 0u);
  EXPECT_EQ(buckets[2].count, 1u) << "it counts where it ends";
}

TEST(TimeBucketsTest, ItIsBlockedBeforeItIsRunnable) {
  EXPECT_THAT(SpreadOver(Wait(4 * kSecond, 1'500'000'000, 1'000'000'000)),
              ElementsAre(BucketIs(1u, 500'000'000u, 0u), BucketIs(2u, kSecond, 0u), BucketIs(3u, 0u, kSecond)));
}

TEST(TimeBucketsTest, WhatEndsWithASecondIsOfThatSecond) {
  EXPECT_THAT(SpreadOver(Wait(3 * kSecond, 7, 1)), ElementsAre(BucketIs(2u, 7u, 1u)));
  EXPECT_THAT(SpreadOver(Wait(3 * kSecond, kSecond, 0)), ElementsAre(BucketIs(2u, kSecond, 0u)));
  EXPECT_THAT(SpreadOver(Wait(3 * kSecond + 1, 7, 1)), ElementsAre(BucketIs(2u, 7u, 0u), BucketIs(3u, 0u, 1u)));
}

// It lasted 2 s from 0.5 s on, and stands for ten times as much.
TEST(TimeBucketsTest, WhatWasSampledStandsForMoreWhereItWas) {
  const RowSums sums = RowSums::OfWait(2 * kSecond, 0, 0, 20 * kSecond);
  const auto buckets = SpreadOver(Wait(2'500'000'000, 2 * kSecond, 0, sums));
  EXPECT_THAT(buckets, ElementsAre(BucketIs(0u, 5 * kSecond, 0u), BucketIs(1u, 10 * kSecond, 0u),
                                   BucketIs(2u, 5 * kSecond, 0u)));
  EXPECT_EQ(buckets[2].count, 1u);
  EXPECT_DOUBLE_EQ(buckets[2].count_excess, 9);
}

TEST(TimeBucketsTest, NothingIsLostWhateverItStandsFor) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t blocked_ns = random() % (5 * kSecond);
    const uint64_t runnable_ns = random() % (3 * kSecond);
    const RowSums sums = RowSums::OfWait(blocked_ns, runnable_ns, 0, random() % (30 * kSecond));
    TimeBucket all;
    for (const TimeBucket& bucket :
         SpreadOver(Wait(8 * kSecond + random() % (9 * kSecond), blocked_ns, runnable_ns, sums)))
      all.Add(bucket);
    ASSERT_EQ(all.blocked_ns, sums.blocked_ns);
    ASSERT_EQ(all.runnable_ns, sums.runnable_ns);
    ASSERT_EQ(all.count, sums.count);
  }
}

// More than there was before its end, and an end at 0.
TEST(TimeBucketsTest, TimeDoesNotGoBelowZero) {
  EXPECT_THAT(SpreadOver(Wait(5, 100, 0)), ElementsAre(BucketIs(0u, 100u, 0u)));
  EXPECT_THAT(SpreadOver(Wait(0, 100, 0)), ElementsAre(BucketIs(0u, 100u, 0u)));
}

TEST(TimeBucketsTest, BucketsAreInOrderHoweverTheyCome) {
  TimeBuckets buckets;
  for (const uint32_t number : {5u, 7u, 3u, 5u, 7u, 9u, 3u}) buckets.Add({.number = number, .blocked_ns = number});
  EXPECT_THAT(ListOf(buckets),
              ElementsAre(BucketIs(3u, 6u, 0u), BucketIs(5u, 10u, 0u), BucketIs(7u, 14u, 0u), BucketIs(9u, 9u, 0u)));
  buckets.Widen();
  EXPECT_THAT(ListOf(buckets),
              ElementsAre(BucketIs(1u, 6u, 0u), BucketIs(2u, 10u, 0u), BucketIs(3u, 14u, 0u), BucketIs(4u, 9u, 0u)));
  buckets.Widen();
  EXPECT_THAT(ListOf(buckets), ElementsAre(BucketIs(0u, 6u, 0u), BucketIs(1u, 24u, 0u), BucketIs(2u, 9u, 0u)));
}

const std::string kPacked(
    "\x13"          // 2 buckets after the first one, 3 figures
    "\xac\x02"      // blocked: 300
    "\x00"          // runnable: 0
    "\x01"          // count: 1
    "\x01"          // the next bucket, 1 figure
    "\x05"          // blocked: 5
    "\x15"          // 2 buckets between, 5 figures
    "\x00\x00\x00"  // no wait
    "\x80\x01"      // on the CPU: 128
    "\x02",         // samples: 2
    14);

TEST(TimeBucketsTest, IsPackedIntoAFewBytes) {
  TimeBuckets buckets;
  buckets.Add({.number = 1002, .blocked_ns = 300, .count = 1});
  buckets.Add({.number = 1003, .blocked_ns = 5});
  buckets.Add({.number = 1006, .cpu_ns = 128, .samples = 2});
  EXPECT_EQ(PackTimes(buckets, 1000, 0), kPacked);
  const auto unpacked = UnpackTimes(kPacked);
  ASSERT_TRUE(unpacked.has_value());
  ASSERT_THAT(*unpacked, ElementsAre(BucketIs(2u, 300u, 0u), BucketIs(3u, 5u, 0u), BucketIs(6u, 0u, 0u)));
  EXPECT_EQ((*unpacked)[0].count, 1u);
  EXPECT_EQ((*unpacked)[2].cpu_ns, 128u);
  EXPECT_EQ((*unpacked)[2].samples, 2u);
}

TEST(TimeBucketsTest, PartsOfItAreWholeBucketsOrDamage) {
  for (size_t length = 0; length < kPacked.size(); ++length) {
    const auto unpacked = UnpackTimes(kPacked.substr(0, length));
    const bool is_whole = length == 0 || length == 5 || length == 7;
    EXPECT_EQ(unpacked.has_value(), is_whole) << length;
  }
}

TEST(TimeBucketsTest, NumbersHoldAllThatTheyMay) {
  TimeBuckets buckets;
  buckets.Add({.number = UINT32_MAX, .blocked_ns = UINT64_MAX});
  const auto unpacked = UnpackTimes(PackTimes(buckets, 0, 0));
  ASSERT_TRUE(unpacked.has_value());
  EXPECT_THAT(*unpacked, ElementsAre(BucketIs(UINT32_MAX, UINT64_MAX, 0u)));
  const std::string last = PackTimes(buckets, 0, 0);
  EXPECT_FALSE(UnpackTimes(last + '\0').has_value()) << "a number after the last one";
  EXPECT_FALSE(UnpackTimes("\x06\x01\x01\x01\x01\x01\x01").has_value()) << "six figures";
  EXPECT_FALSE(UnpackTimes("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02").has_value()) << "65 bits";
  EXPECT_FALSE(UnpackTimes("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").has_value()) << "eleven bytes";
}

// Four waits that stand for 1.4 each are 6 (5.6), and the buckets add up to that.
TEST(TimeBucketsTest, PartsOfCountsAreRoundedSoThatTheyAddUp) {
  TimeBuckets buckets;
  for (uint32_t number = 0; number < 4; ++number)
    buckets.Add({.number = number, .blocked_ns = 1, .count = 1, .count_excess = 0.4});
  const auto unpacked = UnpackTimes(PackTimes(buckets, 0, 2));
  ASSERT_TRUE(unpacked.has_value());
  std::vector<uint64_t> counts;
  for (const TimeBucket& bucket : *unpacked) counts.push_back(bucket.count);
  EXPECT_THAT(counts, ElementsAre(1, 2, 1, 2)) << "0.4, 0.8, 1.2 and 1.6 are 0, 1, 1 and 2";
}

}  // namespace
}  // namespace offcpu

#include "profile/time_table.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kLeast = 15'625'000;  // a 64th of it

Stretch Blocked(uint64_t end_ns, uint64_t ns) {
  return {.end_ns = end_ns, .blocked_ns = ns, .sums = TimeBucket::Of(0, RowSums::OfWait(ns, 0, 0, 0))};
}

uint64_t BlockedOf(const TimeTable& table, uint32_t row) {
  uint64_t sum = 0;
  for (const TimeBucket& bucket : table.of(row)) sum += bucket.blocked_ns;
  return sum;
}

TEST(TimeTableTest, AsManySlicesAsThereMayBeAreSeconds) {
  TimeTable table(6);
  const uint32_t a = table.AddRow();
  const uint32_t b = table.AddRow();
  for (uint64_t i = 1; i <= 3; ++i) {
    table.Add(a, Blocked(i * kSecond, 10));
    table.Add(b, Blocked(i * kSecond, 20));
  }
  EXPECT_EQ(table.bucket_ns(), kSecond);
  EXPECT_EQ(table.buckets(), 6u);
  table.Add(b, Blocked(4 * kSecond, 20));  // one more
  EXPECT_EQ(table.bucket_ns(), 2 * kSecond);
  EXPECT_EQ(table.buckets(), 4u);
  EXPECT_EQ(BlockedOf(table, a), 30u);
  EXPECT_EQ(BlockedOf(table, b), 80u);
}

TEST(TimeTableTest, EachRowHasASliceHoweverManyThereAre) {
  TimeTable table(4);
  for (uint32_t i = 0; i < 10; ++i) {
    const uint32_t row = table.AddRow();
    for (uint64_t second = 1; second <= 5; ++second) table.Add(row, Blocked(second * kSecond, i));
  }
  EXPECT_EQ(table.buckets(), 10u);
  for (uint32_t i = 0; i < 10; ++i) EXPECT_EQ(BlockedOf(table, i), 5 * i);
}

// For ten years, beside one that was short.
TEST(TimeTableTest, ALongWaitDoesNotTakeAllThereIs) {
  TimeTable table(1000);
  const uint32_t row = table.AddRow();
  const uint64_t ns = 10 * 365 * 86'400 * kSecond;
  table.Add(row, Blocked(7 * kSecond, 5));
  table.Add(row, Blocked(ns + 3, ns));
  EXPECT_LE(table.buckets(), 1000u);
  EXPECT_GE(table.buckets(), 100u) << "buckets are no wider than they must be";
  EXPECT_EQ(BlockedOf(table, row), ns + 5);
}

TEST(TimeTableTest, ShortRecordingsHaveNarrowBuckets) {
  EXPECT_EQ(TimeTable::BucketNsFor(0), kLeast);
  EXPECT_EQ(TimeTable::BucketNsFor(10 * kSecond), kLeast);
  EXPECT_EQ(TimeTable::BucketNsFor(1023 * kLeast - 1), kLeast) << "1022 whole ones, and one at either end";
  EXPECT_EQ(TimeTable::BucketNsFor(1023 * kLeast), 2 * kLeast);
  EXPECT_EQ(TimeTable::BucketNsFor(60 * kSecond), 4 * kLeast);
  EXPECT_EQ(TimeTable::BucketNsFor(1000 * kSecond), kSecond);
  EXPECT_EQ(TimeTable::BucketNsFor(UINT64_MAX), kSecond);
}

TEST(TimeTableTest, WidthsAreTheLeastOneDoubled) {
  for (int shift = 0; shift <= TimeTable::kMaxShift; ++shift) EXPECT_EQ(TimeTable::ShiftOf(kLeast << shift), shift);
  EXPECT_EQ(TimeTable::ShiftOf(kSecond), 6);
  EXPECT_EQ(TimeTable(10).bucket_ns(), kSecond) << "unless narrower ones are asked for";
}

TEST(TimeTableTest, NarrowBucketsAreAtMost1024) {
  TimeTable table(TimeTable::kMaxBuckets, 0);
  const uint32_t row = table.AddRow();
  table.Add(row, Blocked(100 * kLeast + 1, 1));
  table.Add(row, Blocked(1123 * kLeast + 1, 2));
  EXPECT_EQ(table.bucket_ns(), kLeast) << "from number 100 to 1123";
  EXPECT_EQ(table.FirstBucket(), 100u);
  table.Add(row, Blocked(1124 * kLeast + 1, 4));
  EXPECT_EQ(table.bucket_ns(), 2 * kLeast);
  EXPECT_EQ(table.FirstBucket(), 50u);
  EXPECT_EQ(BlockedOf(table, row), 7u);
}

// Buckets of a second may be more: an hour has 3600.
TEST(TimeTableTest, ALongRecordingHasSeconds) {
  TimeTable table(TimeTable::kMaxBuckets, 0);
  const uint32_t row = table.AddRow();
  for (uint64_t second = 1; second <= 3600; ++second) table.Add(row, Blocked(second * kSecond, kSecond));
  EXPECT_EQ(table.bucket_ns(), kSecond);
  EXPECT_EQ(table.buckets(), 3600u);
  EXPECT_EQ(BlockedOf(table, row), 3600 * kSecond);
}

TEST(TimeTableTest, AWaitLiesInNarrowBucketsToTheNanosecond) {
  TimeTable table(TimeTable::kMaxBuckets, 0);
  const uint32_t row = table.AddRow();
  table.Add(row, Blocked(kSecond + 3 * kLeast + 5, 2 * kLeast + 7));
  std::vector<std::pair<uint32_t, uint64_t>> buckets;
  for (const TimeBucket& bucket : table.of(row)) buckets.emplace_back(bucket.number, bucket.blocked_ns);
  EXPECT_THAT(buckets, ::testing::ElementsAre(std::pair(64 + 0, 2u), std::pair(64 + 1, kLeast),
                                              std::pair(64 + 2, kLeast), std::pair(64 + 3, 5u)));
}

TEST(TimeTableTest, AWaitOfMinutesWidensNarrowBucketsAtOnce) {
  TimeTable table(TimeTable::kMaxBuckets, 0);
  const uint32_t row = table.AddRow();
  table.Add(row, Blocked(700 * kSecond, 600 * kSecond));
  EXPECT_EQ(table.bucket_ns(), kSecond);
  EXPECT_EQ(BlockedOf(table, row), 600 * kSecond);
}

// The clock of a host that has run for three years: buckets have numbers of 32 bits.
TEST(TimeTableTest, NarrowBucketsEndWhereTheirNumbersDo) {
  constexpr uint64_t kBuckets = uint64_t{1} << 32;
  for (const uint64_t end_ns : {kBuckets * kLeast, kBuckets * kLeast + 1, 3 * 365 * 86'400 * kSecond}) {
    TimeTable table(TimeTable::kMaxBuckets, 0);
    const uint32_t row = table.AddRow();
    table.Add(row, Blocked(end_ns, 5));
    EXPECT_EQ(table.bucket_ns(), end_ns == kBuckets * kLeast ? kLeast : 2 * kLeast);
    EXPECT_EQ(table.FirstBucket(), (end_ns - 5) / table.bucket_ns());
    EXPECT_EQ(BlockedOf(table, row), 5u);
  }
}

// Buckets that become wider while one wait is spread over them.
TEST(TimeTableTest, WhatIsSpreadMeanwhileIsNotLost) {
  TimeTable table(8);
  const uint32_t a = table.AddRow();
  const uint32_t b = table.AddRow();
  for (uint64_t second = 1; second <= 7; ++second) table.Add(a, Blocked(second * kSecond, 1));
  table.Add(b, Blocked(3 * kSecond - 1, 2 * kSecond));
  EXPECT_EQ(table.bucket_ns(), 2 * kSecond);
  EXPECT_EQ(BlockedOf(table, b), 2 * kSecond);
  std::vector<uint32_t> buckets;
  for (const TimeBucket& bucket : table.of(b)) buckets.push_back(bucket.number);
  EXPECT_THAT(buckets, ::testing::ElementsAre(0, 1));
}

TEST(TimeTableTest, TheFirstBucketIsThatOfAnyRow) {
  TimeTable table;
  EXPECT_EQ(table.FirstBucket(), 0u);
  table.AddRow();
  const uint32_t row = table.AddRow();
  table.Add(row, Blocked(20 * kSecond, 5));
  table.Add(row, 15 * 64, {.blocked_ns = 1});
  EXPECT_EQ(table.FirstBucket(), 15u);
}

}  // namespace
}  // namespace offcpu

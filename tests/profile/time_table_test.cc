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
  return {.end_ns = end_ns, .blocked_ns = ns, .sums = TimeSlice::Of(0, RowSums::OfWait(ns, 0, 0, 0))};
}

uint64_t BlockedOf(const TimeTable& table, uint32_t row) {
  uint64_t sum = 0;
  for (const TimeSlice& slice : table.of(row)) sum += slice.blocked_ns;
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
  EXPECT_EQ(table.column_ns(), kSecond);
  EXPECT_EQ(table.slices(), 6u);
  table.Add(b, Blocked(4 * kSecond, 20));  // one more
  EXPECT_EQ(table.column_ns(), 2 * kSecond);
  EXPECT_EQ(table.slices(), 4u);
  EXPECT_EQ(BlockedOf(table, a), 30u);
  EXPECT_EQ(BlockedOf(table, b), 80u);
}

TEST(TimeTableTest, EachRowHasASliceHoweverManyThereAre) {
  TimeTable table(4);
  for (uint32_t i = 0; i < 10; ++i) {
    const uint32_t row = table.AddRow();
    for (uint64_t second = 1; second <= 5; ++second) table.Add(row, Blocked(second * kSecond, i));
  }
  EXPECT_EQ(table.slices(), 10u);
  for (uint32_t i = 0; i < 10; ++i) EXPECT_EQ(BlockedOf(table, i), 5 * i);
}

// For ten years, beside one that was short.
TEST(TimeTableTest, ALongWaitDoesNotTakeAllThereIs) {
  TimeTable table(1000);
  const uint32_t row = table.AddRow();
  const uint64_t ns = 10 * 365 * 86'400 * kSecond;
  table.Add(row, Blocked(7 * kSecond, 5));
  table.Add(row, Blocked(ns + 3, ns));
  EXPECT_LE(table.slices(), 1000u);
  EXPECT_GE(table.slices(), 100u) << "columns are no wider than they must be";
  EXPECT_EQ(BlockedOf(table, row), ns + 5);
}

TEST(TimeTableTest, ShortRecordingsHaveNarrowColumns) {
  EXPECT_EQ(TimeTable::ColumnFor(0), kLeast);
  EXPECT_EQ(TimeTable::ColumnFor(10 * kSecond), kLeast);
  EXPECT_EQ(TimeTable::ColumnFor(1023 * kLeast - 1), kLeast) << "1022 whole ones, and one at either end";
  EXPECT_EQ(TimeTable::ColumnFor(1023 * kLeast), 2 * kLeast);
  EXPECT_EQ(TimeTable::ColumnFor(60 * kSecond), 4 * kLeast);
  EXPECT_EQ(TimeTable::ColumnFor(1000 * kSecond), kSecond);
  EXPECT_EQ(TimeTable::ColumnFor(UINT64_MAX), kSecond);
}

TEST(TimeTableTest, WidthsAreTheLeastOneDoubled) {
  for (int shift = 0; shift <= TimeTable::kMaxShift; ++shift) EXPECT_EQ(TimeTable::ShiftOf(kLeast << shift), shift);
  EXPECT_EQ(TimeTable::ShiftOf(kSecond), 6);
  EXPECT_EQ(TimeTable(10).column_ns(), kSecond) << "unless narrower ones are asked for";
}

TEST(TimeTableTest, NarrowColumnsAreAtMost1024) {
  TimeTable table(TimeTable::kMaxSlices, 0);
  const uint32_t row = table.AddRow();
  table.Add(row, Blocked(100 * kLeast + 1, 1));
  table.Add(row, Blocked(1123 * kLeast + 1, 2));
  EXPECT_EQ(table.column_ns(), kLeast) << "from column 100 to 1123";
  EXPECT_EQ(table.FirstColumn(), 100u);
  table.Add(row, Blocked(1124 * kLeast + 1, 4));
  EXPECT_EQ(table.column_ns(), 2 * kLeast);
  EXPECT_EQ(table.FirstColumn(), 50u);
  EXPECT_EQ(BlockedOf(table, row), 7u);
}

// Columns of a second may be more: an hour has 3600.
TEST(TimeTableTest, ALongRecordingHasSeconds) {
  TimeTable table(TimeTable::kMaxSlices, 0);
  const uint32_t row = table.AddRow();
  for (uint64_t second = 1; second <= 3600; ++second) table.Add(row, Blocked(second * kSecond, kSecond));
  EXPECT_EQ(table.column_ns(), kSecond);
  EXPECT_EQ(table.slices(), 3600u);
  EXPECT_EQ(BlockedOf(table, row), 3600 * kSecond);
}

TEST(TimeTableTest, AWaitLiesInNarrowColumnsToTheNanosecond) {
  TimeTable table(TimeTable::kMaxSlices, 0);
  const uint32_t row = table.AddRow();
  table.Add(row, Blocked(kSecond + 3 * kLeast + 5, 2 * kLeast + 7));
  std::vector<std::pair<uint32_t, uint64_t>> slices;
  for (const TimeSlice& slice : table.of(row)) slices.emplace_back(slice.column, slice.blocked_ns);
  EXPECT_THAT(slices, ::testing::ElementsAre(std::pair(64 + 0, 2u), std::pair(64 + 1, kLeast),
                                             std::pair(64 + 2, kLeast), std::pair(64 + 3, 5u)));
}

TEST(TimeTableTest, AWaitOfMinutesWidensNarrowColumnsAtOnce) {
  TimeTable table(TimeTable::kMaxSlices, 0);
  const uint32_t row = table.AddRow();
  table.Add(row, Blocked(700 * kSecond, 600 * kSecond));
  EXPECT_EQ(table.column_ns(), kSecond);
  EXPECT_EQ(BlockedOf(table, row), 600 * kSecond);
}

// The clock of a host that has run for three years: columns have numbers of 32 bits.
TEST(TimeTableTest, NarrowColumnsEndWhereTheirNumbersDo) {
  constexpr uint64_t kColumns = uint64_t{1} << 32;
  for (const uint64_t end_ns : {kColumns * kLeast, kColumns * kLeast + 1, 3 * 365 * 86'400 * kSecond}) {
    TimeTable table(TimeTable::kMaxSlices, 0);
    const uint32_t row = table.AddRow();
    table.Add(row, Blocked(end_ns, 5));
    EXPECT_EQ(table.column_ns(), end_ns == kColumns * kLeast ? kLeast : 2 * kLeast);
    EXPECT_EQ(table.FirstColumn(), (end_ns - 5) / table.column_ns());
    EXPECT_EQ(BlockedOf(table, row), 5u);
  }
}

// Columns that become wider while one wait is spread over them.
TEST(TimeTableTest, WhatIsSpreadMeanwhileIsNotLost) {
  TimeTable table(8);
  const uint32_t a = table.AddRow();
  const uint32_t b = table.AddRow();
  for (uint64_t second = 1; second <= 7; ++second) table.Add(a, Blocked(second * kSecond, 1));
  table.Add(b, Blocked(3 * kSecond - 1, 2 * kSecond));
  EXPECT_EQ(table.column_ns(), 2 * kSecond);
  EXPECT_EQ(BlockedOf(table, b), 2 * kSecond);
  std::vector<uint32_t> columns;
  for (const TimeSlice& slice : table.of(b)) columns.push_back(slice.column);
  EXPECT_THAT(columns, ::testing::ElementsAre(0, 1));
}

TEST(TimeTableTest, TheFirstColumnIsThatOfAnyRow) {
  TimeTable table;
  EXPECT_EQ(table.FirstColumn(), 0u);
  table.AddRow();
  const uint32_t row = table.AddRow();
  table.Add(row, Blocked(20 * kSecond, 5));
  table.Add(row, 15 * 64, {.blocked_ns = 1});
  EXPECT_EQ(table.FirstColumn(), 15u);
}

}  // namespace
}  // namespace offcpu

#include "profile/time_table.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

constexpr uint64_t kSecond = TimeTable::kLeastColumnNs;

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
  table.Add(row, 15, {.blocked_ns = 1});
  EXPECT_EQ(table.FirstColumn(), 15u);
}

}  // namespace
}  // namespace offcpu

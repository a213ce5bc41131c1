#include "labels/row_value.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RowValueTest, EachNameIsThatOfItsFigure) {
  const RowSums sums = {.count = 1, .blocked_ns = 20, .runnable_ns = 300, .samples = 4000, .cpu_ns = 50000};
  const std::map<std::string, uint64_t> figures = {{"count", 1},      {"off_cpu", 320},  {"blocked", 20},
                                                   {"runnable", 300}, {"samples", 4000}, {"cpu", 50000},
                                                   {"wall", 50320}};
  EXPECT_EQ(figures.size(), kRowValueCount);
  for (const auto& [name, figure] : figures) EXPECT_EQ(ValueOf(sums, ParseRowValue(name).value()), figure) << name;
}

TEST(RowValueTest, WhatOfSamplesThereIsOnlyWithSamples) {
  EXPECT_THAT(RowValueNames(false), ElementsAre("count", "off_cpu", "blocked", "runnable"));
  EXPECT_THAT(RowValueNames(true), ElementsAre("count", "off_cpu", "blocked", "runnable", "samples", "cpu", "wall"));
}

TEST(RowValueTest, AnErrorNamesThoseThereAre) {
  EXPECT_THAT(std::string(ParseRowValue("cout").status().message()),
              HasSubstr("no value is called 'cout' (did you mean count?); the values are count, off_cpu, blocked, "
                        "runnable, samples, cpu, wall"));
}

TEST(RowValueTest, CountsAreNoTimes) {
  EXPECT_EQ(FormatValue(12, RowValue::kCount), "12 times");
  EXPECT_EQ(FormatValue(12, RowValue::kSamples), "12 times");
  EXPECT_EQ(FormatValue(12, RowValue::kWall), "12 ns");
}

}  // namespace
}  // namespace offcpu

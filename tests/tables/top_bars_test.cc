#include "tables/top_bars.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tables/columns.h"

namespace offcpu {
namespace {

std::string BarOf(uint64_t blocked_ns, uint64_t runnable_ns, RowValue value, uint64_t most, bool has_blocks = false) {
  RowSums sums;
  sums.count = 3;
  sums.blocked_ns = blocked_ns;
  sums.runnable_ns = runnable_ns;
  std::string text;
  for (const StyledPart& part : Bar(sums, value, most, 10, has_blocks)) text += part.text;
  return text;
}

TEST(TopBarsTest, ABarIsAsLongAsItsValueAndSplitByWhatItIs) {
  EXPECT_EQ(BarOf(60, 40, RowValue::kOffCpu, 100), "######////");
  EXPECT_EQ(BarOf(30, 20, RowValue::kOffCpu, 100), "###//     ");
  EXPECT_EQ(BarOf(30, 20, RowValue::kBlocked, 60), "#####     ");
  EXPECT_EQ(BarOf(30, 20, RowValue::kRunnable, 40), "/////     ");
  EXPECT_EQ(BarOf(30, 20, RowValue::kCount, 6), "#####     ");
  EXPECT_EQ(BarOf(60, 40, RowValue::kOffCpu, 100, true), "██████▒▒▒▒");
}

TEST(TopBarsTest, WhatThereIsAtAllShows) {
  EXPECT_EQ(BarOf(1, 0, RowValue::kOffCpu, UINT64_MAX), "#         ");
  EXPECT_EQ(BarOf(0, 0, RowValue::kOffCpu, 100), "          ");
  EXPECT_EQ(BarOf(0, 0, RowValue::kOffCpu, 0), "          ") << "nothing waited";
  EXPECT_EQ(BarOf(200, 0, RowValue::kOffCpu, 100), "##########") << "no longer than there is room";
}

TEST(TopBarsTest, ASparklineIsAsHighAsItsFiguresBesideTheLargest) {
  EXPECT_EQ(Sparkline({0, 1, 2, 3, 4, 5, 6, 7, 8}, 9, true), " ▁▂▃▄▅▆▇█");
  EXPECT_EQ(Sparkline({0, 1, 2, 3, 4, 5, 6, 7, 8}, 9, false), " _.,-=+*#");
  EXPECT_EQ(Sparkline({1e9, 1}, 2, false), "#_");
}

TEST(TopBarsTest, ASparklineShowsTheLastFigures) {
  EXPECT_EQ(Sparkline({800, 1, 8}, 2, false), "_#");
  EXPECT_EQ(Sparkline({8}, 4, false), "   #");
  EXPECT_EQ(Sparkline({}, 3, false), "   ");
  EXPECT_EQ(Sparkline({0, 0}, 3, false), "   ");
  EXPECT_EQ(Sparkline({1, 2}, 0, false), "");
}

TEST(TopBarsTest, NothingSampledIsNoBlank) {
  EXPECT_EQ(Sparkline({std::nullopt, 0, 8, std::nullopt}, 5, true), " · █·");
  EXPECT_EQ(Sparkline({std::nullopt, 0, 8, std::nullopt}, 4, false), ": #:");
  EXPECT_EQ(Sparkline({std::nullopt}, 1, false), ":");
}

}  // namespace
}  // namespace offcpu

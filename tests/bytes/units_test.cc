#include "bytes/units.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(UnitsTest, DurationsHaveThreeDigits) {
  EXPECT_EQ(FormatDuration(0), "0 ns");
  EXPECT_EQ(FormatDuration(999), "999 ns");
  EXPECT_EQ(FormatDuration(1000), "1.00 us");
  EXPECT_EQ(FormatDuration(1234), "1.23 us");
  EXPECT_EQ(FormatDuration(9994), "9.99 us");
  EXPECT_EQ(FormatDuration(9995), "10.0 us");
  EXPECT_EQ(FormatDuration(99'949), "99.9 us");
  EXPECT_EQ(FormatDuration(99'950), "100 us");
  EXPECT_EQ(FormatDuration(999'499), "999 us");
  EXPECT_EQ(FormatDuration(999'500), "1.00 ms");
  EXPECT_EQ(FormatDuration(45'600'000), "45.6 ms");
  EXPECT_EQ(FormatDuration(999'499'999), "999 ms");
  EXPECT_EQ(FormatDuration(1'000'000'000), "1.00 s");
  EXPECT_EQ(FormatDuration(86'400'000'000'000), "86400 s");
  EXPECT_EQ(FormatDuration(UINT64_MAX), "18446744074 s");
}

TEST(UnitsTest, Percent) {
  EXPECT_EQ(FormatPercent(0, 0), "0.0 %");
  EXPECT_EQ(FormatPercent(1, 3), "33.3 %");
  EXPECT_EQ(FormatPercent(3, 3), "100.0 %");
}

}  // namespace
}  // namespace offcpu

#include "bytes/percent.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(ParsePercent, ReadsPartsPerMillion) {
  EXPECT_EQ(*ParsePercent("1%"), 10'000u);
  EXPECT_EQ(*ParsePercent("0.5%"), 5'000u);
  EXPECT_EQ(*ParsePercent(".25%"), 2'500u);
  EXPECT_EQ(*ParsePercent("12.3456%"), 123'456u);
}

TEST(ParsePercent, HasLimits) {
  EXPECT_EQ(*ParsePercent("0.0001%"), 1u);
  EXPECT_EQ(*ParsePercent("100%"), 1'000'000u);
  for (const char* text : {"0%", "0.00001%", "100.0001%", "1000%"}) EXPECT_FALSE(ParsePercent(text).ok()) << text;
}

TEST(ParsePercent, RefusesWhatIsNoPart) {
  for (const char* text :
       {"", "%", "1", "-1%", "+1%", "1 %", "1%%", "1..5%", "%1", "1e1%", "0x5%", "nan%", "inf%", "1% "})
    EXPECT_EQ(ParsePercent(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
}

TEST(PartOf, IsInPartsPerMillion) {
  EXPECT_DOUBLE_EQ(PartOf(4e9, 10'000), 4e7);
  EXPECT_DOUBLE_EQ(PartOf(1, 1'000'000), 1);
  EXPECT_EQ(PartOf(4e9, 0), 0);
}

TEST(PercentText, IsReadAsTheSame) {
  EXPECT_EQ(PercentText(10'000), "1%");
  EXPECT_EQ(PercentText(5'000), "0.5%");
  for (const uint64_t ppm : {1u, 9u, 10u, 12'345u, 99'999u, 123'456u, 999'999u, 1'000'000u})
    EXPECT_EQ(*ParsePercent(PercentText(ppm)), ppm) << PercentText(ppm);
}

}  // namespace
}  // namespace offcpu

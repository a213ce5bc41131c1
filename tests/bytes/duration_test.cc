#include "bytes/duration.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(ParseDuration, ReadsEveryUnit) {
  EXPECT_EQ(*ParseDuration("7ns"), 7u);
  EXPECT_EQ(*ParseDuration("50us"), 50'000u);
  EXPECT_EQ(*ParseDuration("1.5ms"), 1'500'000u);
  EXPECT_EQ(*ParseDuration("2s"), 2'000'000'000u);
  EXPECT_EQ(*ParseDuration("1m"), 60'000'000'000u);
  EXPECT_EQ(*ParseDuration("1h"), 3'600'000'000'000u);
}

TEST(ParseDuration, OnlyZeroNeedsNoUnit) {
  EXPECT_EQ(*ParseDuration("0"), 0u);
  EXPECT_FALSE(ParseDuration("5").ok());
  EXPECT_EQ(*ParseDuration("5", "s"), 5'000'000'000u);
  EXPECT_EQ(*ParseDuration("0.5", "s"), 500'000'000u);
}

TEST(ParseDuration, RefusesWhatIsNoLengthOfTime) {
  for (const char* text :
       {"", "s", "-1s", "1 s", "1sec", "1..5s", "ms5", "1e3s", "0x5s", "nans", "infs", "5s ", "9999999999h"}) {
    EXPECT_EQ(ParseDuration(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace offcpu

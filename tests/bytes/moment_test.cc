#include "bytes/moment.h"

#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kSecond = 1'000'000'000;
// 2026-01-31 14:05:30 UTC; `date -u -d "2026-01-31 14:05:30" +%s`
constexpr uint64_t kNow = 1'769'868'330 * kSecond;

const absl::TimeZone kBerlin = absl::FixedTimeZone(3600);  // without summer time

uint64_t At(const std::string& text, absl::TimeZone zone = absl::UTCTimeZone()) {
  const absl::StatusOr<uint64_t> moment = ParseMoment(text, kNow, zone);
  EXPECT_TRUE(moment.ok()) << moment.status();
  return moment.ok() ? *moment : 0;
}

TEST(MomentTest, SoLongAgo) {
  EXPECT_EQ(At("10m"), kNow - 600 * kSecond);
  EXPECT_EQ(At("1.5s"), kNow - 3 * kSecond / 2);
  EXPECT_EQ(At("0"), kNow);
  EXPECT_EQ(At("270000h"), kNow - 972'000'000 * kSecond) << "thirty years";
  EXPECT_EQ(*ParseMoment("1h", 5, absl::UTCTimeZone()), 1u) << "not before there was a clock";
}

TEST(MomentTest, ATimeOfDayIsTheLastOne) {
  EXPECT_EQ(At("14:05"), kNow - 30 * kSecond);
  EXPECT_EQ(At("14:05:30"), kNow) << "now is not yet to come";
  EXPECT_EQ(At("14:05:31"), kNow + kSecond - 86400 * kSecond) << "yesterday";
  EXPECT_EQ(At("23:00"), kNow - 30 * kSecond - (15 * 3600 + 5 * 60) * kSecond);
  EXPECT_EQ(At("15:05", kBerlin), kNow - 30 * kSecond) << "local time";
}

TEST(MomentTest, ADateBeginsAtMidnight) {
  EXPECT_EQ(At("2026-01-31"), 1'769'817'600 * kSecond);
  EXPECT_EQ(At("2026-01-31", kBerlin), 1'769'814'000 * kSecond);
  EXPECT_EQ(At("2024-02-29"), 1'709'164'800 * kSecond);
}

TEST(MomentTest, ATimeOfADay) {
  EXPECT_EQ(At("2026-01-31T14:05:30"), kNow);
  EXPECT_EQ(At("2026-01-31 14:05:30"), kNow);
  EXPECT_EQ(At("2026-01-31T14:05"), kNow - 30 * kSecond);
  EXPECT_EQ(At("2026-01-31T14:05:30.25"), kNow + kSecond / 4);
  EXPECT_EQ(At("2026-01-31T15:05:30", kBerlin), kNow);
  EXPECT_EQ(At("2026-01-31T14:05:30Z", kBerlin), kNow) << "as it says, wherever it is read";
  EXPECT_EQ(At("2026-01-31T14:05Z", kBerlin), kNow - 30 * kSecond);
  EXPECT_EQ(At("2026-01-31T15:05:30+01:00"), kNow);
  EXPECT_EQ(At("2026-01-31T08:35:30-05:30"), kNow);
}

TEST(MomentTest, WhatIsNoneSaysWhatMayBeWritten) {
  for (const std::string text : {"",
                                 "5",
                                 "m",
                                 "yesterday",
                                 "25:00",
                                 "14:60",
                                 "14",
                                 "14:05:30:10",
                                 "14:05Z",
                                 "2026-13-01",
                                 "2026-02-30",
                                 "2026-01-31T",
                                 "2026-01-31T25:00",
                                 "1969-12-31",
                                 "99999-01-01",
                                 "-5m",
                                 " 14:05",
                                 "14:05 ",
                                 "infinite-past",
                                 "2026-01-31T14:05+",
                                 "2026-01-31T14:05:30Zzz"}) {
    const absl::StatusOr<uint64_t> moment = ParseMoment(text, kNow, absl::UTCTimeZone());
    ASSERT_FALSE(moment.ok()) << text;
    EXPECT_EQ(moment.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(moment.status().message()), HasSubstr("'" + text + "' is not a time: write how long ago"));
  }
}

TEST(MomentTest, ForAReader) {
  EXPECT_EQ(FormatMoment(kNow, absl::UTCTimeZone()), "2026-01-31 14:05:30");
  EXPECT_EQ(FormatMoment(kNow, kBerlin), "2026-01-31 15:05:30");
}

}  // namespace
}  // namespace offcpu

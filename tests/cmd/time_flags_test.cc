#include "offcpu/time_flags.h"

#include <cstdint>
#include <string>
#include <utility>

#include "bytes/moment.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kNow = 1'769'868'330 * kSecond;  // 2026-01-31 14:05:30 UTC

TEST(TimeFlagsTest, WithoutThemItIsAllTime) {
  const TimeSpan span = *SpanOf(TimeFlags(), kNow);
  EXPECT_TRUE(span.is_all());
  EXPECT_TRUE(span.Has({.since_unix_ns = 1, .until_unix_ns = 2}));
  EXPECT_TRUE(span.Has({})) << "a dump of no window";
}

TEST(TimeFlagsTest, OneOrBoth) {
  const TimeSpan since = *SpanOf({.since = "1m", .until = ""}, kNow);
  EXPECT_EQ(since.since_unix_ns, kNow - 60 * kSecond);
  EXPECT_EQ(since.until_unix_ns, 0u);
  EXPECT_FALSE(since.is_all());
  const TimeSpan both = *SpanOf({.since = "2026-01-31T14:00Z", .until = "30s"}, kNow);
  EXPECT_EQ(both.since_unix_ns, kNow - 330 * kSecond);
  EXPECT_EQ(both.until_unix_ns, kNow - 30 * kSecond);
}

TEST(TimeFlagsTest, ErrorsNameTheFlag) {
  for (const auto& [flags, part] : {
           std::pair<TimeFlags, std::string>({"5", ""}, "--since: '5' is not a time: "),
           std::pair<TimeFlags, std::string>({"", "noon"}, "--until: 'noon' is not a time: "),
           std::pair<TimeFlags, std::string>({"1m", "2m"}, "--since must be before --until, 20"),
           std::pair<TimeFlags, std::string>({"1m", "1m"}, "--since must be before --until, 20"),
       }) {
    const absl::Status status = SpanOf(flags, kNow).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << part;
    EXPECT_THAT(std::string(status.message()), HasSubstr(part));
  }
}

// Who ended when the span began, or began when it ended, has nothing of it.
TEST(TimeFlagsTest, WhatHasSomethingOfASpan) {
  const TimeSpan span = {.since_unix_ns = 100, .until_unix_ns = 200};
  EXPECT_TRUE(span.Has({.since_unix_ns = 50, .until_unix_ns = 101}));
  EXPECT_FALSE(span.Has({.since_unix_ns = 50, .until_unix_ns = 100}));
  EXPECT_TRUE(span.Has({.since_unix_ns = 199, .until_unix_ns = 300}));
  EXPECT_FALSE(span.Has({.since_unix_ns = 200, .until_unix_ns = 300}));
  EXPECT_TRUE(span.Has({.since_unix_ns = 0, .until_unix_ns = 300}));
  EXPECT_TRUE(span.Has({.since_unix_ns = 120, .until_unix_ns = 130}));
}

// A host that sleeps does not record, and time passes.
TEST(TimeFlagsTest, ATimeOfDayThatHasNotComeSaysThatItIsYesterdays) {
  const uint64_t noon = *ParseMoment("2026-01-31T12:00", 0);
  EXPECT_EQ(YesterdayText({.since = "14:05", .until = ""}, noon),
            "offcpu: --since 14:05 is still to come today: taken as yesterday's, 2026-01-30 14:05:00\n");
  EXPECT_EQ(YesterdayText({.since = "13:00", .until = "12:01"}, noon),
            "offcpu: --since 13:00 is still to come today: taken as yesterday's, 2026-01-30 13:00:00\n"
            "offcpu: --until 12:01 is still to come today: taken as yesterday's, 2026-01-30 12:01:00\n");
  for (const char* meant : {"12:00", "11:59", "10m", "2026-01-30T14:05", "", "x:y"})
    EXPECT_EQ(YesterdayText({.since = meant, .until = ""}, noon + kSecond), "") << meant;
}

TEST(TimeFlagsTest, ARecordingEndsWhenItWasOver) {
  ProfileFacts profile;
  profile.start_unix_ns = 1000;
  profile.duration_ns = 60;
  profile.stats.suspended_ns = 7;
  EXPECT_EQ(SpanOf(profile).since_unix_ns, 1000u);
  EXPECT_EQ(SpanOf(profile).until_unix_ns, 1067u);
}

}  // namespace
}  // namespace offcpu

#include "recorder/clocks.h"

#include <time.h>

#include <string>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr Clocks kStart = {.unix_ns = 1'700'000'000 * kSecond, .boot_ns = 500 * kSecond, .monotonic_ns = 400 * kSecond};

Clocks Later(int64_t unix_s, int64_t boot_s, int64_t monotonic_s, int64_t extra_ns = 0) {
  const auto ns = [](int64_t seconds) { return static_cast<uint64_t>(seconds) * kSecond; };
  return {.unix_ns = kStart.unix_ns + ns(unix_s) + static_cast<uint64_t>(extra_ns),
          .boot_ns = kStart.boot_ns + ns(boot_s),
          .monotonic_ns = kStart.monotonic_ns + ns(monotonic_s)};
}

Profile Between(const Clocks& end) {
  Profile profile;
  SetTimes(kStart, Following(kStart, end), profile);
  return profile;
}

TEST(ClocksTest, TheyAreThoseOfTheSystem) {
  const Clocks now = ReadClocks();
  timespec boot = {};
  clock_gettime(CLOCK_BOOTTIME, &boot);
  EXPECT_NEAR(static_cast<double>(now.boot_ns) / kSecond, static_cast<double>(boot.tv_sec), 10);
  EXPECT_NEAR(static_cast<double>(now.unix_ns) / kSecond, static_cast<double>(time(nullptr)), 10);
  EXPECT_GE(now.boot_ns, now.monotonic_ns);
}

TEST(SetTimesTest, UsuallyAllGoOnTogether) {
  const Profile profile = Between(Later(60, 60, 60));
  EXPECT_EQ(profile.start_unix_ns, kStart.unix_ns);
  EXPECT_EQ(profile.start_boot_ns, kStart.boot_ns);
  EXPECT_EQ(profile.duration_ns, 60 * kSecond);
  EXPECT_EQ(profile.stats.suspended_ns, 0u);
  EXPECT_EQ(profile.stats.clock_forward_ns, 0u);
  EXPECT_EQ(profile.stats.clock_back_ns, 0u);
}

TEST(SetTimesTest, ASuspendedHostRecordsNothing) {
  const Profile profile = Between(Later(3660, 3660, 60));
  EXPECT_EQ(profile.duration_ns, 60 * kSecond);
  EXPECT_EQ(profile.stats.suspended_ns, 3600 * kSecond);
  EXPECT_EQ(profile.stats.clock_forward_ns, 0u);
}

TEST(SetTimesTest, AStepIsNoted) {
  EXPECT_EQ(Between(Later(70, 60, 60)).stats.clock_forward_ns, 10 * kSecond);
  const Profile back = Between(Later(-3540, 60, 60));
  EXPECT_EQ(back.stats.clock_back_ns, 3600 * kSecond);
  EXPECT_EQ(back.stats.clock_forward_ns, 0u);
  EXPECT_EQ(back.duration_ns, 60 * kSecond);
}

TEST(SetTimesTest, WhatLiesBetweenTwoReadingsIsNoStep) {
  EXPECT_EQ(Between(Later(60, 60, 60, 9'999'999)).stats.clock_forward_ns, 0u);
  EXPECT_EQ(Between(Later(60, 60, 60, 10'000'000)).stats.clock_forward_ns, 10'000'000u);
}

TEST(FollowingTest, WindowsTouchHoweverTheClocksAreRead) {
  Clocks start = kStart;
  uint64_t length_ns = 0;
  for (int i = 1; i <= 100; ++i) {
    const Clocks end = Following(start, Later(i, i, i, i % 2 == 0 ? 9'000'000 : -900'000));
    length_ns += end.monotonic_ns - start.monotonic_ns;
    start = end;
  }
  EXPECT_EQ(start.unix_ns, kStart.unix_ns + length_ns);
  EXPECT_EQ(start.boot_ns, kStart.boot_ns + length_ns);
}

TEST(BeforeTest, AllClocksGoBackTogether) {
  const Clocks then = Before(Later(1, 1, 1), kSecond + 5);
  EXPECT_EQ(then.unix_ns, kStart.unix_ns - 5);
  EXPECT_EQ(then.boot_ns, kStart.boot_ns - 5);
  EXPECT_EQ(then.monotonic_ns, kStart.monotonic_ns - 5);
}

// Readings of two clocks are never of one moment.
TEST(AtLeastBehindTest, WindowIsAsLongAsWhatItHolds) {
  const Clocks end = AtLeastBehind(kStart, Later(1, 1, 1), kSecond + 7);
  EXPECT_EQ(end.unix_ns, kStart.unix_ns + kSecond + 7);
  EXPECT_EQ(end.boot_ns, kStart.boot_ns + kSecond + 7);
  EXPECT_EQ(end.monotonic_ns, kStart.monotonic_ns + kSecond + 7);
}

TEST(AtLeastBehindTest, WindowMayBeLonger) {
  for (const uint64_t ns : {kSecond, kSecond - 1, uint64_t{0}}) {
    EXPECT_EQ(AtLeastBehind(kStart, Later(1, 1, 1), ns).monotonic_ns, kStart.monotonic_ns + kSecond) << ns;
  }
}

// Else windows of a clock that is ahead would end further and further from their time.
TEST(AtLeastBehindTest, DriftIsBounded) {
  EXPECT_EQ(AtLeastBehind(kStart, Later(1, 1, 1), kSecond + kDriftNs - 1).monotonic_ns,
            kStart.monotonic_ns + kSecond + kDriftNs - 1);
  EXPECT_EQ(AtLeastBehind(kStart, Later(1, 1, 1), kSecond + kDriftNs).monotonic_ns, kStart.monotonic_ns + kSecond);
}

// The scheduler's clock is 100 us a second ahead.
TEST(AtLeastBehindTest, WindowsTouchAndStayAtTheirTime) {
  constexpr uint64_t kAhead = 100'000;
  Clocks start = kStart;
  int short_ones = 0;
  for (int i = 1; i <= 1000; ++i) {
    const Clocks now = Later(i, i, i);
    const Clocks end = AtLeastBehind(start, Following(start, now), kSecond + kAhead);
    short_ones += end.monotonic_ns - start.monotonic_ns < kSecond + kAhead ? 1 : 0;
    EXPECT_LT(end.monotonic_ns - now.monotonic_ns, kDriftNs);
    EXPECT_EQ(end.boot_ns - start.boot_ns, end.monotonic_ns - start.monotonic_ns);
    EXPECT_EQ(end.unix_ns - start.unix_ns, end.monotonic_ns - start.monotonic_ns);
    start = end;
  }
  EXPECT_EQ(short_ones, 1000 / 50) << "each loses 5 ms";
}

class UnixTimeTest : public ::testing::Test {
 protected:
  Clocks now_ = kStart;
  UnixTime time_{[this] { return now_; }};
};

TEST_F(UnixTimeTest, ThereAndBackAgainIsExact) {
  const uint64_t boot = time_.BootOf(kStart.unix_ns - 7);
  EXPECT_EQ(boot, kStart.boot_ns - 7);
  now_ = Later(1, 1, 1, 9'999'999);  // a reading that was interrupted
  EXPECT_EQ(time_.UnixOf(boot), kStart.unix_ns - 7);
}

TEST_F(UnixTimeTest, AStepCounts) {
  const uint64_t boot = time_.BootOf(kStart.unix_ns);
  now_ = Later(3600, 1, 1);
  EXPECT_EQ(time_.UnixOf(boot), kStart.unix_ns + 3599 * kSecond);
  // "five seconds ago"
  EXPECT_EQ(time_.BootOf(now_.unix_ns - 5 * kSecond), now_.boot_ns - 5 * kSecond);
  now_ = Later(-3600, 2, 2);
  EXPECT_EQ(time_.BootOf(now_.unix_ns - 5 * kSecond), now_.boot_ns - 5 * kSecond);
}

TEST_F(UnixTimeTest, BeforeTheHostWasStartedThereIsNothing) {
  EXPECT_EQ(time_.BootOf(kStart.unix_ns - kStart.boot_ns), 1u);
  EXPECT_EQ(time_.BootOf(0), 1u);
  EXPECT_GT(time_.BootOf(UINT64_MAX), now_.boot_ns);
}

TEST(TimeNamespaceTest, OnlyTheKernelsOwnClocksWillDo) {
  EXPECT_TRUE(CheckTimeNamespace("").ok()) << "a kernel without time namespaces";
  EXPECT_TRUE(CheckTimeNamespace("monotonic           0         0\nboottime            0         0\n").ok());
  const absl::Status shifted = CheckTimeNamespace("monotonic      100000         0\nboottime            0         0\n");
  EXPECT_EQ(shifted.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(
      std::string(shifted.message()),
      "this process is in a time namespace: monotonic is 100000 s off the kernel's clock; run it in the host's time "
      "namespace, for example with nsenter --time=/proc/1/ns/time");
  EXPECT_FALSE(CheckTimeNamespace("monotonic 0 0\nboottime 0 -1\n").ok());
  EXPECT_TRUE(CheckTimeNamespace().ok()) << "that of the tests";
}

}  // namespace
}  // namespace offcpu

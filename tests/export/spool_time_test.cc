#include "export/spool_time.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kYear = 365 * 24 * 3600 * kSecond;
constexpr uint64_t kNow = 50 * kYear;

TEST(WaitedTest, InOneBootTheWallClockDoesNotMatter) {
  const SpoolTime appended = {.unix_ns = kNow, .boot_ns = 100 * kSecond, .boot = 1};
  for (const uint64_t unix_ns : {kNow + 5 * kSecond, kNow + kYear, kNow - kYear}) {
    EXPECT_EQ(WaitedNs(appended, {.unix_ns = unix_ns, .boot_ns = 105 * kSecond, .boot = 1}, 0), 5 * kSecond);
  }
}

TEST(WaitedTest, TimeThatGoesBackIsNone) {
  const SpoolTime appended = {.unix_ns = kNow, .boot_ns = 100 * kSecond, .boot = 1};
  EXPECT_EQ(WaitedNs(appended, {.unix_ns = kNow, .boot_ns = 99 * kSecond, .boot = 1}, 0), 0u);
}

TEST(WaitedTest, AcrossBootsTheWallClockCounts) {
  const SpoolTime appended = {.unix_ns = kNow, .boot_ns = 100 * kSecond, .boot = 1};
  const SpoolTime now = {.unix_ns = kNow + kYear, .boot_ns = 20 * kSecond + kClockSettlesNs, .boot = 2};
  EXPECT_EQ(WaitedNs(appended, now, 20 * kSecond), kYear);
}

TEST(WaitedTest, ABootWithoutANameIsAnotherOne) {
  const SpoolTime appended = {.unix_ns = kNow, .boot_ns = 100 * kSecond, .boot = 0};
  const SpoolTime now = {.unix_ns = kNow + kYear, .boot_ns = kClockSettlesNs, .boot = 0};
  EXPECT_EQ(WaitedNs(appended, now, 0), kYear);
}

TEST(WaitedTest, AClockThatMayNotBeSetYetMakesNothingOld) {
  const SpoolTime appended = {.unix_ns = kNow, .boot_ns = 100 * kSecond, .boot = 1};
  const SpoolTime now = {.unix_ns = kNow + kYear, .boot_ns = 20 * kSecond + kClockSettlesNs - 1, .boot = 2};
  EXPECT_EQ(WaitedNs(appended, now, 20 * kSecond), kClockSettlesNs - 1);
}

TEST(WaitedTest, WhatIsFromTheFutureHasWaitedSinceItWasSeen) {
  const SpoolTime appended = {.unix_ns = kNow + kYear, .boot_ns = 100 * kSecond, .boot = 1};
  const SpoolTime now = {.unix_ns = kNow, .boot_ns = 5000 * kSecond, .boot = 2};
  EXPECT_EQ(WaitedNs(appended, now, 1000 * kSecond), 4000 * kSecond);
}

TEST(SpoolTimeNowTest, OnlyTheClocksGoOn) {
  const SpoolTime first = SpoolTimeNow();
  const SpoolTime second = SpoolTimeNow();
  EXPECT_NE(first.boot, 0u);
  EXPECT_EQ(first.boot, second.boot);
  EXPECT_GT(first.boot_ns, 0u);
  EXPECT_LE(first.boot_ns, second.boot_ns);
  EXPECT_GT(first.unix_ns, 40 * kYear);  // this was written after 2010
}

}  // namespace
}  // namespace offcpu

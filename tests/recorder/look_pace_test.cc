#include "recorder/look_pace.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

constexpr uint64_t kNow = 1'000'000'000'000;

TEST(LookPace, WhoWasNeverLookedAtMayBeAtOnce) { EXPECT_LE(LookPace().next_ns(), 0u); }

TEST(LookPace, SomeLooksMayFollowEachOtherAtOnce) {
  LookPace pace;
  for (int i = 0; i < 10; ++i) {
    EXPECT_LE(pace.next_ns(), kNow) << i;
    pace.Spend(LookPace::kAtOnceNs / 10, kNow);
  }
  EXPECT_LE(pace.next_ns(), kNow) << "exactly what may be spent at once";
  pace.Spend(1, kNow);
  EXPECT_GT(pace.next_ns(), kNow);
}

TEST(LookPace, FurtherLooksTakeTheirPartOfACpu) {
  constexpr uint64_t kLookNs = 3'000'000;
  constexpr uint64_t kAllNs = 100'000'000'000;
  LookPace pace;
  uint64_t spent_ns = 0;
  for (uint64_t now_ns = kNow; now_ns < kNow + kAllNs; now_ns = std::max(now_ns + kLookNs, pace.next_ns())) {
    pace.Spend(kLookNs, now_ns);
    spent_ns += kLookNs;
  }
  // All of its part, what it may take at once, and a look that began with almost nothing left.
  EXPECT_GE(spent_ns, kAllNs / LookPace::kPart);
  EXPECT_LE(spent_ns, kAllNs / LookPace::kPart + LookPace::kAtOnceNs + 2 * kLookNs);
}

TEST(LookPace, NoPauseIsLongerThanTheLongest) {
  LookPace pace;
  pace.Spend(3'600'000'000'000, kNow);
  EXPECT_EQ(pace.next_ns(), kNow + LookPace::kLongestPauseNs);
}

TEST(LookPace, ALongPauseAllowsNoMoreThanAtFirst) {
  LookPace pace;
  pace.Spend(1'000'000, kNow);
  const uint64_t later_ns = kNow + 1'000'000'000'000;
  pace.Spend(LookPace::kAtOnceNs, later_ns);
  EXPECT_LE(pace.next_ns(), later_ns);
  pace.Spend(1, later_ns);
  EXPECT_GT(pace.next_ns(), later_ns);
}

}  // namespace
}  // namespace offcpu

#include "recorder/snapshot_pace.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

constexpr uint64_t kNow = 1'000'000'000'000;

TEST(SnapshotPace, WhoWasNeverLookedAtMayBeAtOnce) { EXPECT_LE(SnapshotPace().next_ns(), 0u); }

TEST(SnapshotPace, SomeSnapshotsMayFollowEachOtherAtOnce) {
  SnapshotPace pace;
  for (int i = 0; i < 10; ++i) {
    EXPECT_LE(pace.next_ns(), kNow) << i;
    pace.Spend(SnapshotPace::kAtOnceNs / 10, kNow);
  }
  EXPECT_LE(pace.next_ns(), kNow) << "exactly what may be spent at once";
  pace.Spend(1, kNow);
  EXPECT_GT(pace.next_ns(), kNow);
}

TEST(SnapshotPace, FurtherSnapshotsTakeTheirPartOfACpu) {
  constexpr uint64_t kSnapshotNs = 3'000'000;
  constexpr uint64_t kAllNs = 100'000'000'000;
  SnapshotPace pace;
  uint64_t spent_ns = 0;
  for (uint64_t now_ns = kNow; now_ns < kNow + kAllNs; now_ns = std::max(now_ns + kSnapshotNs, pace.next_ns())) {
    pace.Spend(kSnapshotNs, now_ns);
    spent_ns += kSnapshotNs;
  }
  // All of its part, what it may take at once, and a snapshot that began with almost nothing left.
  EXPECT_GE(spent_ns, kAllNs / SnapshotPace::kPart);
  EXPECT_LE(spent_ns, kAllNs / SnapshotPace::kPart + SnapshotPace::kAtOnceNs + 2 * kSnapshotNs);
}

TEST(SnapshotPace, NoPauseIsLongerThanTheLongest) {
  SnapshotPace pace;
  pace.Spend(3'600'000'000'000, kNow);
  EXPECT_EQ(pace.next_ns(), kNow + SnapshotPace::kLongestPauseNs);
}

TEST(SnapshotPace, ALongPauseAllowsNoMoreThanAtFirst) {
  SnapshotPace pace;
  pace.Spend(1'000'000, kNow);
  const uint64_t later_ns = kNow + 1'000'000'000'000;
  pace.Spend(SnapshotPace::kAtOnceNs, later_ns);
  EXPECT_LE(pace.next_ns(), later_ns);
  pace.Spend(1, later_ns);
  EXPECT_GT(pace.next_ns(), later_ns);
}

}  // namespace
}  // namespace offcpu

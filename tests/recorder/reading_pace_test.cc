#include "recorder/reading_pace.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

constexpr uint64_t kNow = 1'000'000'000'000;

TEST(ReadingPace, WhoWasNeverLookedAtMayBeAtOnce) { EXPECT_LE(ReadingPace(kSnapshotRate).next_ns(), 0u); }

TEST(ReadingPace, SomeSnapshotsMayFollowEachOtherAtOnce) {
  ReadingPace pace(kSnapshotRate);
  for (int i = 0; i < 10; ++i) {
    EXPECT_LE(pace.next_ns(), kNow) << i;
    pace.Spend(kSnapshotRate.at_once_ns / 10, kNow);
  }
  EXPECT_LE(pace.next_ns(), kNow) << "exactly what may be spent at once";
  pace.Spend(1, kNow);
  EXPECT_GT(pace.next_ns(), kNow);
}

TEST(ReadingPace, FurtherSnapshotsTakeTheirPartOfACpu) {
  constexpr uint64_t kSnapshotNs = 3'000'000;
  constexpr uint64_t kAllNs = 100'000'000'000;
  ReadingPace pace(kSnapshotRate);
  uint64_t spent_ns = 0;
  for (uint64_t now_ns = kNow; now_ns < kNow + kAllNs; now_ns = std::max(now_ns + kSnapshotNs, pace.next_ns())) {
    pace.Spend(kSnapshotNs, now_ns);
    spent_ns += kSnapshotNs;
  }
  // All of its part, what it may take at once, and a snapshot that began with almost nothing left.
  EXPECT_GE(spent_ns, kAllNs / kSnapshotRate.part);
  EXPECT_LE(spent_ns, kAllNs / kSnapshotRate.part + kSnapshotRate.at_once_ns + 2 * kSnapshotNs);
}

// What a program costs that is another one at every snapshot, however long that takes: of the 1 % of all CPUs that
// recording may cost, captures and BPF programs need the rest.
TEST(ReadingPace, AProgramThatChangesAllTheTimeLeavesMostOfTheBudget) {
  constexpr uint64_t kSecondNs = 1'000'000'000;
  constexpr uint64_t kBudgetNs = 2 * kSecondNs / 100;  // in a second, of two CPUs
  for (const uint64_t snapshot_ns : {100'000, 1'000'000, 5'000'000}) {
    for (const uint64_t seconds : {6, 60}) {
      ReadingPace pace(kSnapshotRate);
      uint64_t spent_ns = 0;
      for (uint64_t now_ns = kNow; now_ns < kNow + seconds * kSecondNs;
           now_ns = std::max(now_ns + snapshot_ns, pace.next_ns())) {
        pace.Spend(snapshot_ns, now_ns);
        spent_ns += snapshot_ns;
      }
      const uint64_t at_once_ns = kSnapshotRate.at_once_ns + 2 * snapshot_ns;
      EXPECT_LE(spent_ns, at_once_ns + seconds * kBudgetNs / 4) << snapshot_ns << " ns, " << seconds << " s";
      EXPECT_LT(spent_ns, seconds * kBudgetNs) << snapshot_ns << " ns, " << seconds << " s";
    }
  }
}

// Walks through a runtime's code need what was read of it soon.
TEST(ReadingPace, EachKindOfReadingHasItsRate) {
  ReadingPace pace(kRuntimeRate);
  pace.Spend(kRuntimeRate.at_once_ns, kNow);
  EXPECT_LE(pace.next_ns(), kNow);
  pace.Spend(1'000'000, kNow);
  EXPECT_EQ(pace.next_ns(), kNow + 1'000'000 * kRuntimeRate.part);
}

TEST(ReadingPace, NoPauseIsLongerThanTheLongest) {
  ReadingPace pace(kSnapshotRate);
  pace.Spend(3'600'000'000'000, kNow);
  EXPECT_EQ(pace.next_ns(), kNow + ReadingPace::kLongestPauseNs);
}

TEST(ReadingPace, ALongPauseAllowsNoMoreThanAtFirst) {
  ReadingPace pace(kSnapshotRate);
  pace.Spend(1'000'000, kNow);
  const uint64_t later_ns = kNow + 1'000'000'000'000;
  pace.Spend(kSnapshotRate.at_once_ns, later_ns);
  EXPECT_LE(pace.next_ns(), later_ns);
  pace.Spend(1, later_ns);
  EXPECT_GT(pace.next_ns(), later_ns);
}

}  // namespace
}  // namespace offcpu

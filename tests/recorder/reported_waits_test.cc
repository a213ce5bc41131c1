#include "recorder/reported_waits.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

testing::AssertionResult Is(const WaitPart& part, uint64_t blocked_ns, uint64_t runnable_ns) {
  if (part.blocked_ns == blocked_ns && part.runnable_ns == runnable_ns) return testing::AssertionSuccess();
  return testing::AssertionFailure() << part.blocked_ns << " + " << part.runnable_ns;
}

TEST(WaitPartTest, BlockedComesFirst) {
  WaitPart part = {.blocked_ns = 100, .runnable_ns = 30};
  EXPECT_TRUE(Is(part.TakeAllBut(130), 0, 0));
  EXPECT_TRUE(Is(part.TakeAllBut(1000), 0, 0));
  EXPECT_TRUE(Is(part.TakeAllBut(90), 40, 0));
  EXPECT_TRUE(Is(part, 60, 30));
  EXPECT_TRUE(Is(part.TakeAllBut(10), 60, 20));
  EXPECT_TRUE(Is(part, 0, 10));
  EXPECT_TRUE(Is(part.TakeAllBut(0), 0, 10));
  EXPECT_TRUE(Is(part, 0, 0));
}

TEST(ReportedWaitsTest, OnlyTheRestIsLeft) {
  ReportedWaits waits(10);
  EXPECT_TRUE(Is(waits.Rest(1, 1000, {300, 0}), 300, 0));
  ASSERT_TRUE(waits.Report(1, 1000, {300, 0}));
  EXPECT_TRUE(Is(waits.Rest(1, 1000, {300, 0}), 0, 0));
  EXPECT_TRUE(Is(waits.Rest(1, 1000, {500, 20}), 200, 20));
  ASSERT_TRUE(waits.Report(1, 1000, {500, 20}));
  EXPECT_TRUE(Is(waits.Rest(1, 1000, {500, 50}), 0, 30));
  EXPECT_EQ(waits.size(), 1u);
}

// What a wait was made of is not known for sure before it is over; how long it was is.
TEST(ReportedWaitsTest, TheLengthIsRightWhateverItIsMadeOf) {
  ReportedWaits waits(10);
  ASSERT_TRUE(waits.Report(1, 1000, {200, 100}));
  EXPECT_TRUE(Is(waits.Rest(1, 1000, {400, 0}), 100, 0));
  EXPECT_TRUE(Is(waits.Rest(1, 1000, {0, 400}), 0, 100));
}

TEST(ReportedWaitsTest, AnotherWaitOfTheThreadIsNotIt) {
  ReportedWaits waits(10);
  ASSERT_TRUE(waits.Report(1, 1000, {300, 0}));
  EXPECT_TRUE(Is(waits.Rest(1, 900, {100, 0}), 100, 0));   // the one before
  EXPECT_TRUE(Is(waits.Rest(1, 1300, {100, 0}), 100, 0));  // the one after, of this thread or the next with its tid
  EXPECT_TRUE(Is(waits.Rest(2, 1000, {400, 0}), 400, 0));  // another thread's
  EXPECT_TRUE(Is(waits.Rest(1, 1001, {399, 0}), 99, 0));   // a thread that is not quite sure when it was made
}

TEST(ReportedWaitsTest, TheWaitBeforeMayStillComeToItsEnd) {
  ReportedWaits waits(10);
  ASSERT_TRUE(waits.Report(1, 1000, {300, 0}));
  ASSERT_TRUE(waits.Report(1, 1350, {100, 0}));
  ASSERT_TRUE(waits.Report(1, 1350, {150, 0}));
  EXPECT_TRUE(Is(waits.Rest(1, 1000, {340, 0}), 40, 0));
  EXPECT_TRUE(Is(waits.Rest(1, 1350, {160, 0}), 10, 0));
}

TEST(ReportedWaitsTest, BoundedAndForgotten) {
  ReportedWaits waits(2);
  EXPECT_TRUE(waits.Report(1, 1000, {300, 0}));
  EXPECT_TRUE(waits.Report(2, 1000, {400, 0}));
  EXPECT_FALSE(waits.Report(3, 1000, {400, 0}));
  EXPECT_TRUE(waits.Report(2, 1000, {401, 0})) << "one that is known already";
  EXPECT_TRUE(Is(waits.Rest(3, 1000, {400, 0}), 400, 0));
  for (uint64_t window = 0; window < ReportedWaits::kWindows; ++window) {
    waits.CountWindow();
    EXPECT_EQ(waits.size(), 2u);
    EXPECT_TRUE(waits.Report(2, 1000, {401 + window, 0}));
  }
  waits.CountWindow();
  EXPECT_EQ(waits.size(), 1u);
  EXPECT_TRUE(Is(waits.Rest(2, 1000, {410, 0}), 2, 0));
}

}  // namespace
}  // namespace offcpu

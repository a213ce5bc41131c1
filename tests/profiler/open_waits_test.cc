#include "profiler/open_waits.h"

#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

WaitingThread Waiting(int32_t tid, uint64_t blocked_ns, bool throughout = false) {
  WaitingThread thread;
  thread.process = {.pid = 1, .start_ns = 2, .exec_id = 3};
  thread.tid = tid;
  thread.comm = "worker";
  thread.switches = 40;
  thread.has_user = true;
  thread.kernel = {0xa, 0xb};
  thread.open = OpenWait{.blocked_ns = blocked_ns, .runnable_ns = 5, .throughout = throughout};
  thread.in_open_wait = true;
  return thread;
}

std::vector<IntervalEvent> IntervalsOf(const OpenWaits& waits) {
  std::vector<IntervalEvent> intervals;
  for (const Event& event : waits.events) {
    if (const auto* interval = std::get_if<IntervalEvent>(&event)) intervals.push_back(*interval);
  }
  return intervals;
}

std::vector<KernelStackEvent> KernelStacksOf(const OpenWaits& waits) {
  std::vector<KernelStackEvent> stacks;
  for (const Event& event : waits.events) {
    if (const auto* stack = std::get_if<KernelStackEvent>(&event)) stacks.push_back(*stack);
  }
  return stacks;
}

TEST(OpenWaitsTest, AWaitIsAnIntervalOfItsOwnKind) {
  const OpenWaits waits = CloseOpenWaits({Waiting(7, 100)}, {Waiting(7, 100)}, {});
  const std::vector<IntervalEvent> intervals = IntervalsOf(waits);
  ASSERT_THAT(intervals, SizeIs(1));
  EXPECT_EQ(intervals[0].kind, WaitKind::kOpen);
  EXPECT_EQ(intervals[0].tid, 7);
  EXPECT_EQ(intervals[0].blocked_ns, 100u);
  EXPECT_EQ(intervals[0].runnable_ns, 5u);
  EXPECT_EQ(intervals[0].switches, 40u);
  EXPECT_EQ(intervals[0].comm, "worker");
  EXPECT_EQ(intervals[0].cookie, 0u);
  const std::vector<KernelStackEvent> stacks = KernelStacksOf(waits);
  ASSERT_THAT(stacks, SizeIs(1));
  EXPECT_EQ(stacks[0].id, intervals[0].kernel_stack);
  EXPECT_THAT(stacks[0].addresses, ElementsAre(0xa, 0xb));
}

TEST(OpenWaitsTest, AKernelStackIsDefinedOnce) {
  const std::vector<WaitingThread> threads = {Waiting(7, 100), Waiting(8, 100), Waiting(9, 100)};
  EXPECT_THAT(KernelStacksOf(CloseOpenWaits(threads, threads, {})), SizeIs(1));
}

TEST(OpenWaitsTest, TheLastListTellsWhoWaits) {
  WaitingThread recorded = Waiting(7, 100);
  recorded.open.reset();  // its wait had ended in time after all
  EXPECT_THAT(CloseOpenWaits({Waiting(7, 100)}, {recorded}, {}).events, IsEmpty());
  EXPECT_THAT(CloseOpenWaits({Waiting(7, 100)}, {}, {}).events, IsEmpty());
}

TEST(OpenWaitsTest, StacksSeenInAnotherWaitAreNotItsOwn) {
  WaitingThread gone_on = Waiting(7, 100);
  gone_on.in_open_wait = false;
  WaitingThread other_process = Waiting(7, 100);
  other_process.process.exec_id = 4;
  for (const std::vector<WaitingThread>& first : {{gone_on}, {other_process}, std::vector<WaitingThread>()}) {
    const std::vector<IntervalEvent> intervals = IntervalsOf(CloseOpenWaits(first, {Waiting(7, 100)}, {}));
    ASSERT_THAT(intervals, SizeIs(1));
    EXPECT_EQ(intervals[0].missing, NoUserStack::kStale);
    EXPECT_EQ(intervals[0].kernel_stack, 0u);
    EXPECT_EQ(intervals[0].switches, 0u);
    EXPECT_EQ(intervals[0].blocked_ns, 100u);
  }
}

TEST(OpenWaitsTest, SleepersMayBeCountedOnly) {
  const std::vector<WaitingThread> threads = {Waiting(7, 100, true), Waiting(8, 100, false)};
  const OpenWaits shown = CloseOpenWaits(threads, threads, {});
  EXPECT_THAT(IntervalsOf(shown), SizeIs(2));
  EXPECT_EQ(shown.sleepers, 0u);
  const OpenWaits counted = CloseOpenWaits(threads, threads, {.show_sleepers = false});
  EXPECT_THAT(IntervalsOf(counted), SizeIs(1));
  EXPECT_EQ(counted.sleepers, 1u);
}

TEST(OpenWaitsTest, ShortAndLongOnesAreLeftOutWithTheirTime) {
  const std::vector<WaitingThread> threads = {Waiting(7, 94), Waiting(8, 95), Waiting(9, 195), Waiting(10, 196)};
  const OpenWaits waits = CloseOpenWaits(threads, threads, {.min_wait_ns = 100, .max_wait_ns = 200});
  EXPECT_THAT(IntervalsOf(waits), SizeIs(2));  // of 100 and 200 ns: 5 ns of each are runnable
  EXPECT_EQ(waits.filtered.count, 2u);
  EXPECT_EQ(waits.filtered.ns, 99u + 201u);
}

TEST(OpenWaitsTest, OtherKindsAreLeftOut) {
  std::vector<WaitingThread> threads = {Waiting(7, 94), Waiting(8, 95)};
  threads[0].open->kind = WaitKind::kDisk;
  threads[1].open->kind = WaitKind::kSleeping;
  const OpenWaits waits = CloseOpenWaits(threads, threads, {.kinds = {WaitKind::kDisk}});
  ASSERT_THAT(IntervalsOf(waits), SizeIs(1));
  EXPECT_EQ(IntervalsOf(waits)[0].tid, 7);
  EXPECT_EQ(waits.filtered.count, 1u);
}

TEST(OpenWaitsTest, KernelThreadsHaveNoUserStackToMiss) {
  WaitingThread thread = Waiting(7, 100);
  thread.is_kernel = true;
  thread.has_user = false;
  const OpenWaits waits = CloseOpenWaits({thread}, {thread}, {});
  ASSERT_THAT(IntervalsOf(waits), SizeIs(1));
  EXPECT_EQ(IntervalsOf(waits)[0].missing, NoUserStack::kKernelThread);
}

}  // namespace
}  // namespace offcpu

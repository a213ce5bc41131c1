#include "recorder/open_waits.h"

#include "bpf_programs/stack_ids.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr wire_hash_key kKey = {.low = 5, .high = 6};

WaitingThread Waiting(int32_t tid, uint64_t blocked_ns, bool throughout = false) {
  WaitingThread thread;
  thread.process = {.pid = 1, .start_ns = 2, .exec_id = 3};
  thread.tid = tid;
  thread.comm = "worker";
  thread.switches = 40;
  thread.has_user = true;
  thread.syscall = 202;
  thread.kernel = {0xa, 0xb};
  thread.open = OpenWait{.begin_ns = 1000, .blocked_ns = blocked_ns, .runnable_ns = 5, .throughout = throughout};
  thread.in_open_wait = true;
  return thread;
}

OpenWaits Close(const std::vector<WaitingThread>& first, const std::vector<WaitingThread>& last,
                const OpenWaitsConfig& config) {
  ReportedWaits reported(100);
  return CloseOpenWaits(0, first, last, config, kKey, reported);
}

TEST(OpenWaitsTest, AWaitIsAnIntervalOfItsOwnKind) {
  const OpenWaits waits = Close({Waiting(7, 100)}, {Waiting(7, 100)}, {});
  const std::vector<IntervalEvent>& intervals = waits.intervals;
  ASSERT_THAT(intervals, SizeIs(1));
  EXPECT_EQ(intervals[0].kind, WaitKind::kOpen);
  EXPECT_EQ(intervals[0].syscall, 202);
  EXPECT_EQ(intervals[0].tid, 7);
  EXPECT_EQ(intervals[0].blocked_ns, 100u);
  EXPECT_EQ(intervals[0].runnable_ns, 5u);
  EXPECT_EQ(intervals[0].switches, 40u);
  EXPECT_EQ(intervals[0].comm, "worker");
  EXPECT_EQ(intervals[0].cookie, 0u);
  const std::vector<KernelStackEvent>& stacks = waits.kernel_stacks;
  ASSERT_THAT(stacks, SizeIs(1));
  EXPECT_EQ(stacks[0].id, intervals[0].kernel_stack);
  EXPECT_EQ(stacks[0].id, KernelStackId(kKey, stacks[0].addresses)) << "as the BPF programs name it";
  EXPECT_THAT(stacks[0].addresses, ElementsAre(0xa, 0xb));
}

TEST(OpenWaitsTest, AKernelStackIsDefinedOnce) {
  const std::vector<WaitingThread> threads = {Waiting(7, 100), Waiting(8, 100), Waiting(9, 100)};
  EXPECT_THAT(Close(threads, threads, {}).kernel_stacks, SizeIs(1));
}

TEST(OpenWaitsTest, TheLastListTellsWhoWaits) {
  WaitingThread recorded = Waiting(7, 100);
  recorded.open.reset();  // its wait had ended in time after all
  EXPECT_THAT(Close({Waiting(7, 100)}, {recorded}, {}).intervals, IsEmpty());
  EXPECT_THAT(Close({Waiting(7, 100)}, {}, {}).intervals, IsEmpty());
}

TEST(OpenWaitsTest, StacksSeenInAnotherWaitAreNotItsOwn) {
  WaitingThread gone_on = Waiting(7, 100);
  gone_on.in_open_wait = false;
  WaitingThread other_process = Waiting(7, 100);
  other_process.process.exec_id = 4;
  for (const std::vector<WaitingThread>& first : {{gone_on}, {other_process}, std::vector<WaitingThread>()}) {
    const std::vector<IntervalEvent> intervals = Close(first, {Waiting(7, 100)}, {}).intervals;
    ASSERT_THAT(intervals, SizeIs(1));
    EXPECT_EQ(intervals[0].missing, NoUserStack::kStale);
    EXPECT_EQ(intervals[0].kernel_stack, 0u);
    EXPECT_EQ(intervals[0].syscall, kNoSystemCall);
    EXPECT_EQ(intervals[0].switches, 0u);
    EXPECT_EQ(intervals[0].blocked_ns, 100u);
  }
}

TEST(OpenWaitsTest, SleepersMayBeCountedOnly) {
  const std::vector<WaitingThread> threads = {Waiting(7, 100, true), Waiting(8, 100, false)};
  const OpenWaits shown = Close(threads, threads, {});
  EXPECT_THAT(shown.intervals, SizeIs(2));
  EXPECT_EQ(shown.sleepers, 0u);
  const OpenWaits counted = Close(threads, threads, {.show_sleepers = false});
  EXPECT_THAT(counted.intervals, SizeIs(1));
  EXPECT_EQ(counted.sleepers, 1u);
}

TEST(OpenWaitsTest, ShortAndLongOnesAreLeftOutWithTheirTime) {
  const std::vector<WaitingThread> threads = {Waiting(7, 94), Waiting(8, 95), Waiting(9, 195), Waiting(10, 196)};
  const OpenWaits waits = Close(threads, threads, {{.min_wait_ns = 100, .max_wait_ns = 200}});
  EXPECT_THAT(waits.intervals, SizeIs(2));  // of 100 and 200 ns: 5 ns of each are runnable
  EXPECT_EQ(waits.filtered.count, 2u);
  EXPECT_EQ(waits.filtered.ns, 99u + 201u);
}

TEST(OpenWaitsTest, OtherKindsAreLeftOut) {
  std::vector<WaitingThread> threads = {Waiting(7, 94), Waiting(8, 95)};
  threads[0].open->kind = WaitKind::kDisk;
  threads[1].open->kind = WaitKind::kSleeping;
  const OpenWaits waits = Close(threads, threads, {{.kinds = {WaitKind::kDisk}}});
  ASSERT_THAT(waits.intervals, SizeIs(1));
  EXPECT_EQ(waits.intervals[0].tid, 7);
  EXPECT_EQ(waits.filtered.count, 1u);
}

class WindowEndTest : public ::testing::Test {
 protected:
  // A thread that began to wait for a lock at `begin_ns`, as it is at `now_ns`.
  static WaitingThread Since(uint64_t begin_ns, uint64_t now_ns) {
    WaitingThread thread = Waiting(7, 0);
    thread.open = OpenWait{.begin_ns = begin_ns, .blocked_ns = now_ns - begin_ns};
    return thread;
  }

  OpenWaits End(uint64_t window_begin_ns, const WaitingThread& thread, const OpenWaitsConfig& config = {}) {
    return CloseOpenWaits(window_begin_ns, {thread}, {thread}, config, kKey, reported_);
  }

  ReportedWaits reported_{100};
};

TEST_F(WindowEndTest, EachWindowHasItsOwnPartOfAWait) {
  const uint64_t begin_ns = 1100;
  uint64_t sum_ns = 0;
  for (const uint64_t end_ns : {1500, 2500, 2700}) {
    const OpenWaits waits = End(sum_ns == 0 ? 500 : sum_ns + begin_ns, Since(begin_ns, end_ns));
    ASSERT_THAT(waits.intervals, SizeIs(1));
    sum_ns += waits.intervals[0].blocked_ns;
    EXPECT_EQ(sum_ns, end_ns - begin_ns);
    EXPECT_EQ(waits.missed.count, 0u);
  }
}

TEST_F(WindowEndTest, OneThreadIsToldOnce) {
  const WaitingThread thread = Since(1100, 1500);
  EXPECT_THAT(CloseOpenWaits(0, {thread}, {thread, thread}, {}, kKey, reported_).intervals, SizeIs(1));
}

TEST_F(WindowEndTest, WhatAnEarlierWindowWasNotToldIsMissed) {
  const OpenWaits waits = End(5'000'000, Since(1'000'000, 9'000'000));
  ASSERT_THAT(waits.intervals, SizeIs(1));
  EXPECT_EQ(waits.intervals[0].blocked_ns, 4'000'000u);
  EXPECT_EQ(waits.missed.count, 1u);
  EXPECT_EQ(waits.missed.ns, 4'000'000u);
}

// Its wait begins when it is charged for its CPU, and the kernel looks for another one to run there after that: it was
// not seen to wait when the window began.
TEST_F(WindowEndTest, AThreadThatWasLeavingWhenTheWindowBeganHasNoMoreOfItThanItsLength) {
  const OpenWaits waits = End(5'000'000, Since(4'999'999, 9'000'000));
  ASSERT_THAT(waits.intervals, SizeIs(1));
  EXPECT_EQ(waits.intervals[0].blocked_ns, 4'000'000u);
  EXPECT_EQ(waits.missed.count, 1u);
  EXPECT_EQ(waits.missed.ns, 1u);
}

TEST_F(WindowEndTest, ThroughoutIsOfTheWindow) {
  const OpenWaitsConfig counted = {{}, false};
  EXPECT_EQ(End(500, Since(1100, 1500), counted).sleepers, 0u);
  const OpenWaits second = End(1500, Since(1100, 2500), counted);
  EXPECT_EQ(second.sleepers, 1u);
  EXPECT_THAT(second.intervals, IsEmpty());
  // What was only counted is reported all the same.
  EXPECT_EQ(reported_.Rest(7, 1100, {.blocked_ns = 1450}).total_ns(), 50u);
}

TEST_F(WindowEndTest, TheWholeWaitIsJudgedAndItsPartNamed) {
  const OpenWaitsConfig config = {{.min_wait_ns = 600, .max_wait_ns = 1500}};
  const OpenWaits first = End(500, Since(1100, 1500), config);
  EXPECT_THAT(first.intervals, IsEmpty());
  EXPECT_EQ(first.filtered.ns, 400u);
  const OpenWaits second = End(1500, Since(1100, 1800), config);
  ASSERT_THAT(second.intervals, SizeIs(1)) << "700 ns by now";
  EXPECT_EQ(second.intervals[0].blocked_ns, 300u);
  const OpenWaits third = End(1800, Since(1100, 2700), config);
  EXPECT_THAT(third.intervals, IsEmpty());
  EXPECT_EQ(third.filtered.ns, 900u);
}

TEST_F(WindowEndTest, WhatCannotBeRememberedIsNotTold) {
  ReportedWaits full(0);
  const WaitingThread thread = Since(1100, 1500);
  const OpenWaits waits = CloseOpenWaits(1200, {thread}, {thread}, {}, kKey, full);
  EXPECT_THAT(waits.intervals, IsEmpty());
  EXPECT_EQ(waits.missed.count, 0u) << "it is told when it ends";
}

TEST(OpenWaitsTest, KernelThreadsHaveNoUserStackToMiss) {
  WaitingThread thread = Waiting(7, 100);
  thread.is_kernel = true;
  thread.has_user = false;
  const OpenWaits waits = Close({thread}, {thread}, {});
  ASSERT_THAT(waits.intervals, SizeIs(1));
  EXPECT_EQ(waits.intervals[0].missing, NoUserStack::kKernelThread);
}

}  // namespace
}  // namespace offcpu

// Which window an interval belongs to, and who gets an outcome.
#include "recorder/window_book.h"

#include <map>
#include <vector>

#include "bpf_programs/stack_ids.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "profile/time_buckets.h"
#include "tests/recorder/fake_host.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class WindowBookTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kCutNs = 10'000'000;

  static IntervalEvent EndingAt(uint64_t end_ns, uint64_t ns, uint64_t cookie) {
    IntervalEvent event = AnInterval(cookie, ns);
    event.end_ns = end_ns;
    return event;
  }
  static uint64_t NsOf(const Profile& profile) {
    uint64_t ns = 0;
    for (const ProfileRow& row : profile.rows) ns += row.total_ns();
    return ns;
  }
  static UserStack AStack() {
    UserStack stack;
    stack.frames.push_back({.code = nullptr, .address = 9});
    stack.end = EndReason::kComplete;
    return stack;
  }

  using BlockedNs = std::map<uint32_t, uint64_t>;
  static BlockedNs BlockedByBucket(const ProfileRow& row) {
    BlockedNs blocked;
    const std::vector<TimeBucket> buckets = UnpackTimes(row.times).value();
    for (const TimeBucket& bucket : buckets) blocked[bucket.number] = bucket.blocked_ns;
    return blocked;
  }

  void Resolve(uint64_t cookie) {
    stacks_.Resolve(cookie, AStack());
    book_.TakeInNews();
  }

  FakeHost host_;
  Stacks stacks_{{}, host_, 1};
  WindowBook book_{{}, stacks_, host_, 1};
};

TEST_F(WindowBookTest, AnIntervalIsSharedOutBetweenTheWindows) {
  book_.Cut(kCutNs);
  book_.Add(EndingAt(kCutNs + 300, 1000, 0));
  const Profile first = book_.TakeClosed({}, {});
  const Profile last = book_.Finish({}, {});
  EXPECT_EQ(NsOf(first), 700u);
  EXPECT_EQ(NsOf(last), 300u);
  ASSERT_THAT(first.rows, SizeIs(1));
  EXPECT_EQ(first.rows[0].kind, WaitKind::kOpen) << "it had not ended yet";
  EXPECT_EQ(last.rows[0].kind, WaitKind::kSleeping);
  EXPECT_EQ(book_.intervals(), 1u);
}

TEST_F(WindowBookTest, BothWindowsGetTheStackOfAStay) {
  book_.Cut(kCutNs);
  book_.Add(EndingAt(kCutNs + 300, 1000, 1));
  EXPECT_FALSE(book_.IsClosed(true)) << "its stack is not known yet";
  Resolve(1);
  EXPECT_FALSE(book_.IsClosed(false)) << "events from before the cut may still come";
  ASSERT_TRUE(book_.IsClosed(true));
  for (const Profile& profile : {book_.TakeClosed({}, {}), book_.Finish({}, {})}) {
    ASSERT_THAT(profile.rows, SizeIs(1));
    EXPECT_EQ(profile.user_stacks[profile.rows[0].user_stack].stack, AStack());
  }
}

// What a wait for a CPU was is known when it is over, and counts there, whole.
TEST_F(WindowBookTest, AWaitForACpuCountsInTheWindowThatItEndsIn) {
  IntervalEvent event = EndingAt(kCutNs + 300, 1000, 0);
  event.blocked_ns = 0;
  event.runnable_ns = 30'000;
  event.sample_ns = 60'000;
  book_.Cut(kCutNs);
  book_.Add(event);
  const Profile first = book_.TakeClosed({}, {});
  const Profile last = book_.Finish({}, {});
  EXPECT_THAT(first.stats.run_queue.counts, ::testing::Each(0));
  EXPECT_EQ(last.stats.run_queue.counts[1], 2) << "10 to 50 us; it stands for two of its length";
  EXPECT_EQ(last.stats.run_queue.ns, 60'000u);
}

// The first interval of a kernel entry was in the window before, and so was the outcome.
TEST_F(WindowBookTest, AnOutcomeFromBeforeTheCutServesTheNextWindow) {
  book_.Add(EndingAt(kCutNs - 100, 50, 1));
  Resolve(1);
  book_.Cut(kCutNs);
  book_.Add(EndingAt(kCutNs + 300, 100, 1));
  book_.TakeClosed({}, {});
  book_.Add(EndingAt(kCutNs + 500, 100, 1));  // of the same kernel entry
  const Profile last = book_.Finish({}, {});
  ASSERT_THAT(last.rows, SizeIs(1));
  EXPECT_EQ(last.rows[0].count, 2u);
  EXPECT_EQ(last.user_stacks[last.rows[0].user_stack].stack, AStack());
}

// It was open at the cut, and waits for its stack there. A BPF program has walked that when it ended.
TEST_F(WindowBookTest, AWalkWhereAWaitEndsServesTheWindowThatItWasOpenIn) {
  host_.walks = true;
  Stacks stacks({}, host_, 1);
  WindowBook book({}, stacks, host_, 1);
  WalkTrace trace;
  trace.pcs = {9};
  trace.steps = {{.lookup_pc = 9, .is_end = true}};
  stacks.known().Learn(ACapture(1, kVersion1), AStack(), trace);
  ASSERT_THAT(host_.told, SizeIs(1));
  WaitingThread thread = AWaitingThread(40);
  thread.open->begin_ns = 100;
  thread.open->blocked_ns = kCutNs - 100;
  stacks.BeginWait(thread);
  book.AddOpenWaits({thread}, {thread});
  book.Cut(kCutNs);
  EXPECT_FALSE(book.IsClosed(true));
  IntervalEvent event = EndingAt(kCutNs + 300, kCutNs + 200, 0);
  event.switches = 40;
  event.user_stack = host_.told[0].stack_id;
  book.Add(event);
  book.TakeInNews();
  ASSERT_TRUE(book.IsClosed(true));
  const Profile first = book.TakeClosed({}, {});
  const Profile last = book.Finish({}, {});
  EXPECT_EQ(NsOf(first), kCutNs - 100);
  EXPECT_EQ(NsOf(last), 300u);
  for (const Profile* profile : {&first, &last}) {
    ASSERT_THAT(profile->rows, SizeIs(1));
    EXPECT_EQ(profile->user_stacks[profile->rows[0].user_stack].stack, AStack());
  }
  EXPECT_EQ(last.stats.walked_at_switch, 1u);
}

TEST_F(WindowBookTest, AWindowIsNotWaitedForForEver) {
  book_.Add(EndingAt(kCutNs - 100, 50, 1));
  book_.Cut(kCutNs);
  book_.Tick(WindowBookConfig().close_ns);
  EXPECT_FALSE(book_.IsClosed(true));
  book_.Tick(1 + WindowBookConfig().close_ns);
  EXPECT_TRUE(book_.IsClosed(true));
  const Profile first = book_.TakeClosed({}, {});
  ASSERT_THAT(first.rows, SizeIs(1));
  EXPECT_EQ(first.user_stacks[first.rows[0].user_stack].missing, NoUserStack::kPending);
}

TEST_F(WindowBookTest, WhatIsLateIsCounted) {
  book_.Cut(kCutNs);
  book_.TakeClosed({}, {});
  book_.Add(EndingAt(kCutNs - 1, 50, 0));
  SampleEvent sample = {.process = kProcess, .tid = kProcess.pid, .at_ns = kCutNs};
  book_.Add(sample);
  const Profile last = book_.Finish({}, {});
  EXPECT_THAT(last.rows, IsEmpty());
  ASSERT_THAT(last.stats.losses, SizeIs(2));
  EXPECT_EQ(last.stats.losses[0].reason, InfoOf(LossId::kIntervalLate).name);
  EXPECT_EQ(last.stats.losses[0].ns, 50u);
  EXPECT_EQ(last.stats.losses[1].reason, InfoOf(LossId::kSampleLate).name);
}

TEST_F(WindowBookTest, ASumLiesInTheWindowOfItsEnd) {
  IntervalEvent sum = EndingAt(kCutNs, 50, 0);
  sum.waits = 7;
  sum.longest_ns = 9;
  book_.Cut(kCutNs);
  book_.Add(sum);
  sum.end_ns = kCutNs + 1;  // its waits may be longer than that together: they were of several threads
  book_.Add(sum);
  const Profile first = book_.TakeClosed({}, {});
  sum.end_ns = kCutNs;
  book_.Add(sum);
  const Profile last = book_.Finish({}, {});
  for (const Profile* profile : {&first, &last}) {
    ASSERT_THAT(profile->rows, SizeIs(1));
    EXPECT_EQ(profile->rows[0].count, 7u);
    EXPECT_EQ(profile->rows[0].total_ns(), 50u);
    EXPECT_EQ(profile->rows[0].max_ns, 9u);
    EXPECT_EQ(profile->stats.intervals, 7u);
  }
  const auto late_ns = [](const Profile& profile) {
    std::vector<uint64_t> ns;
    for (const Loss& loss : profile.stats.losses) {
      if (loss.reason == InfoOf(LossId::kIntervalLate).name && loss.count == 7) ns.push_back(loss.ns);
    }
    return ns;
  };
  EXPECT_THAT(late_ns(first), IsEmpty());
  EXPECT_THAT(late_ns(last), ElementsAre(50)) << "the window of the third had been closed";
}

TEST_F(WindowBookTest, AKernelStackMayBeDefinedAfterItsFirstInterval) {
  book_.Add(EndingAt(kCutNs - 100, 50, 0));
  book_.Cut(kCutNs);
  book_.Add(EndingAt(kCutNs + 100, 50, 0));
  book_.Define({.id = 5, .addresses = {50, 51}});
  for (const Profile& profile : {book_.TakeClosed({}, {}), book_.Finish({}, {})}) {
    ASSERT_THAT(profile.kernel_stacks, SizeIs(1));
    EXPECT_THAT(profile.kernel_stacks[0].addresses, ElementsAre(50, 51));
  }
}

// In both windows, and whichever of the two came first.
TEST_F(WindowBookTest, AKernelStackOfTwoContentsIsNone) {
  book_.Define({.id = 5, .addresses = {50, 51}});
  book_.Add(EndingAt(kCutNs - 100, 50, 0));
  book_.Cut(kCutNs);
  book_.Add(EndingAt(kCutNs + 100, 50, 0));
  book_.Define({.id = 5, .addresses = {50, 51}});
  EXPECT_EQ(book_.conflicts(), 0u);
  book_.Define({.id = 5, .addresses = {50, 52}});
  book_.Define({.id = 5, .addresses = {50, 51}});
  EXPECT_EQ(book_.conflicts(), 1u);
  for (const Profile& profile : {book_.TakeClosed({}, {}), book_.Finish({}, {})}) {
    ASSERT_THAT(profile.kernel_stacks, SizeIs(1));
    EXPECT_THAT(profile.kernel_stacks[0].addresses, IsEmpty());
  }
}

// What is kept between windows has thrown the first away, and a window still has it.
TEST_F(WindowBookTest, AKernelStackOfAWindowIsComparedToo) {
  WindowBook book({.kernel_stacks = 1}, stacks_, host_, 1);
  book.Add(EndingAt(kCutNs - 100, 50, 0));
  book.Define({.id = 5, .addresses = {50, 51}});
  book.Define({.id = 6, .addresses = {60}});
  book.Define({.id = 5, .addresses = {50, 52}});
  EXPECT_EQ(book.conflicts(), 1u);
  const Profile profile = book.Finish({}, {});
  ASSERT_THAT(profile.kernel_stacks, SizeIs(1));
  EXPECT_THAT(profile.kernel_stacks[0].addresses, IsEmpty());
}

TEST_F(WindowBookTest, AVoidKernelStackIsNotThatOfAnOpenWait) {
  WaitingThread thread = AWaitingThread(1);
  thread.kernel = {50, 51};
  const uint64_t id = KernelStackId(host_.hash_key(), thread.kernel);
  book_.Define({.id = id, .addresses = {1}});
  book_.Define({.id = id, .addresses = {2}});
  thread.open->begin_ns = 100;
  thread.open->blocked_ns = 400;
  book_.AddOpenWaits({thread}, {thread});
  const Profile profile = book_.Finish({}, {});
  ASSERT_THAT(profile.kernel_stacks, SizeIs(1));
  EXPECT_THAT(profile.kernel_stacks[0].addresses, IsEmpty());
}

TEST_F(WindowBookTest, ProcessesAreDescribedAtLast) {
  book_.Add(EndingAt(kCutNs - 100, 50, 0));
  const Profile profile = book_.Finish({{.key = kProcess, .name = "leader"}, {.key = kOther, .name = "other"}}, {});
  EXPECT_EQ(profile.processes[profile.rows[0].process].name, "leader");
}

TEST_F(WindowBookTest, OpenWaitsAreTold) {
  WaitingThread thread = AWaitingThread(1);
  thread.open->begin_ns = 100;
  thread.open->blocked_ns = 400;
  const std::vector<IntervalEvent> added = book_.AddOpenWaits({thread}, {thread});
  ASSERT_THAT(added, SizeIs(1));
  EXPECT_EQ(added[0].process, kProcess);
  EXPECT_EQ(book_.reported_waits(), 1u);
  const Profile profile = book_.Finish({}, {});
  ASSERT_THAT(profile.rows, SizeIs(1));
  EXPECT_EQ(profile.rows[0].kind, WaitKind::kOpen);
  EXPECT_EQ(NsOf(profile), 400u);
}

// From 1.2 s to 3.2 s, blocked for all but the last 0.1 s; the cut is at 2.5 s.
TEST_F(WindowBookTest, AnIntervalLiesInEachWindowWhereItWas) {
  book_.Cut(2'500'000'000);
  IntervalEvent event = EndingAt(3'200'000'000, 1'900'000'000, 0);
  event.runnable_ns = 100'000'000;
  book_.Add(event);
  SampleEvent sample = {.process = kProcess, .tid = kProcess.pid, .at_ns = 2'500'000'000};
  book_.Add(sample);  // of the first window, as it is not after the cut
  const Profile first = book_.TakeClosed({}, {});
  const Profile last = book_.Finish({}, {});
  ASSERT_THAT(first.rows, SizeIs(2));
  EXPECT_EQ(first.times, (TimeGrid{1'000'000'000, 1'000'000'000}));
  const auto waited = first.rows[0].kind == WaitKind::kOpen ? 0u : 1u;
  EXPECT_EQ(BlockedByBucket(first.rows[waited]), (BlockedNs{{0, 800'000'000}, {1, 500'000'000}}));
  EXPECT_EQ(UnpackTimes(first.rows[1 - waited].times)->front().samples, 1u);
  ASSERT_THAT(last.rows, SizeIs(1));
  EXPECT_EQ(last.times, (TimeGrid{1'000'000'000, 2'000'000'000}));
  EXPECT_EQ(BlockedByBucket(last.rows[0]), (BlockedNs{{0, 500'000'000}, {1, 100'000'000}}));
  EXPECT_EQ(UnpackTimes(last.rows[0].times)->back().runnable_ns, 100'000'000u);
}

}  // namespace
}  // namespace offcpu

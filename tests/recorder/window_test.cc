#include "recorder/window.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

MATCHER_P3(DropIs, reason, count, ns, "") { return arg.reason == reason && arg.count == count && arg.ns == ns; }

constexpr ProcessKey kProcess = {.pid = 1, .start_ns = 2, .exec_id = 3};

class WindowTest : public ::testing::Test {
 protected:
  static IntervalEvent Event(uint64_t cookie, uint64_t ns) {
    return {.process = kProcess,
            .tid = 7,
            .cookie = cookie,
            .kernel_stack = 5,
            .kind = WaitKind::kSleeping,
            .blocked_ns = ns,
            .comm = "worker"};
  }
  static void Add(Window& window, const IntervalEvent& event) {
    window.Add(window.IntervalOf(event, {.blocked_ns = event.blocked_ns}, event.kind));
  }

  KernelStacks kernel_stacks_{100, [](uint64_t) {}};
  ControlGroups control_groups_{[](uint64_t id) { return "/group" + std::to_string(id); }};
};

TEST_F(WindowTest, KernelStacksAreThoseThatItUses) {
  kernel_stacks_.Define(4, {40});
  kernel_stacks_.Define(5, {50, 51});
  for (int i = 0; i < 2; ++i) {
    Window window(0, {}, kernel_stacks_, control_groups_);
    Add(window, Event(0, 10));
    const Profile profile = window.Finish({});
    ASSERT_THAT(profile.kernel_stacks, SizeIs(1));
    EXPECT_EQ(profile.kernel_stacks[0].id, 5u);
    EXPECT_THAT(profile.kernel_stacks[0].addresses, ElementsAre(50, 51));
  }
}

// Its times are sums: how long one of them waited for a CPU is a figure of its own.
TEST_F(WindowTest, WaitsOfASumAreInTheBucketOfOne) {
  IntervalEvent sum = Event(0, 0);
  sum.waits = 6;
  sum.end_ns = 1000;
  sum.runnable_ns = 120'000;
  sum.longest_ns = sum.longest_runnable_ns = 40'000;
  Window window(0, {}, kernel_stacks_, control_groups_);
  window.Add(window.IntervalOf(sum, {.runnable_ns = sum.runnable_ns}, sum.kind));
  const RunQueueWaits waits = window.Finish({}).stats.run_queue;
  EXPECT_EQ(waits.counts[1], 6.0) << "10 to 50 us";
  EXPECT_EQ(waits.ns, 120'000u);
}

TEST_F(WindowTest, AnOutcomeOfAnyKindIsAdopted) {
  Window first(0, {}, kernel_stacks_, control_groups_);
  UserStack stack;
  stack.frames.push_back({.code = nullptr, .address = 9});
  first.Resolve(1, stack);
  first.ResolveMissing(2, NoUserStack::kGone);
  Window second(1, {}, kernel_stacks_, control_groups_);
  second.ResolveMissing(3, NoUserStack::kLost);  // so that indices are not the same
  for (const uint64_t cookie : {1, 2}) second.Adopt(cookie, *first.FindOutcome(cookie));
  second.Adopt(4, {.stack = {}, .overflow = true});
  first.Finish({});
  EXPECT_EQ(second.FindOutcome(1)->stack, stack);
  EXPECT_EQ(second.FindOutcome(2)->missing, NoUserStack::kGone);
  EXPECT_TRUE(second.FindOutcome(4)->overflow);
  EXPECT_EQ(second.FindOutcome(5), nullptr);
}

TEST_F(WindowTest, WhatStillWaitsIsPending) {
  Window window(0, {}, kernel_stacks_, control_groups_);
  EXPECT_TRUE(window.has_all_stacks());
  Add(window, Event(1, 10));
  EXPECT_FALSE(window.has_all_stacks());
  EXPECT_TRUE(window.IsWaitedFor(1));
  const Profile profile = window.Finish({});
  EXPECT_EQ(profile.user_stacks[profile.rows[0].user_stack].missing, NoUserStack::kPending);
}

TEST_F(WindowTest, DropsOfOneReasonAreOne) {
  Window window(0, {}, kernel_stacks_, control_groups_);
  window.CountDrop(LossId::kIntervalLate, 1, 10);
  window.CountDrop(LossId::kIntervalLate, 2, 5);
  window.CountDrop(LossId::kSampleLate, 0, 0);
  EXPECT_THAT(window.Finish({{.reason = "ring full", .count = 1}}).stats.drops,
              ElementsAre(DropIs("ring full", 1u, 0u), DropIs("interval came after its window", 3u, 15u)));
}

TEST(DropsSinceTest, OnlyWhatHasGrown) {
  const std::vector<Drop> before = {{.reason = "a", .count = 1, .ns = 10}, {.reason = "b", .count = 2, .ns = 20}};
  const std::vector<Drop> now = {{.reason = "a", .count = 1, .ns = 10},
                                 {.reason = "b", .count = 5, .ns = 25},
                                 {.reason = "c", .count = 1, .ns = 0}};
  EXPECT_THAT(DropsSince(before, now), ElementsAre(DropIs("b", 3u, 5u), DropIs("c", 1u, 0u)));
  EXPECT_THAT(DropsSince(now, now), IsEmpty());
}

}  // namespace
}  // namespace offcpu

#include "recorder/window.h"

#include <map>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/recorder/fake_host.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

MATCHER_P3(LossIs, reason, count, ns, "") { return arg.reason == reason && arg.count == count && arg.ns == ns; }

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
    window.Add(event, {.cookie = event.cookie, .missing = event.missing}, {.blocked_ns = event.blocked_ns}, event.kind);
  }
  static UserStack StackOf(const Profile& profile) { return profile.user_stacks[profile.rows.at(0).user_stack].stack; }

  FakeHost host_;
  Stacks stacks_{{}, host_, 0};
  KernelStacks kernel_stacks_{100, [](uint64_t) {}};
  ControlGroups control_groups_{[](uint64_t id) { return "/group" + std::to_string(id); }};
};

TEST_F(WindowTest, KernelStacksAreThoseThatItUses) {
  kernel_stacks_.Define(4, {40});
  kernel_stacks_.Define(5, {50, 51});
  for (int i = 0; i < 2; ++i) {
    Window window(0, {}, stacks_, kernel_stacks_, control_groups_);
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
  Window window(0, {}, stacks_, kernel_stacks_, control_groups_);
  window.Add(sum, {.missing = NoUserStack::kBudget}, {.runnable_ns = sum.runnable_ns}, sum.kind);
  const RunQueueWaits waits = window.Finish({}).stats.run_queue;
  EXPECT_EQ(waits.counts[1], 6.0) << "10 to 50 us";
  EXPECT_EQ(waits.ns, 120'000u);
}

// Whether the outcome comes before the interval or after it.
TEST_F(WindowTest, AnIntervalHasTheOutcomeOfItsCookie) {
  UserStack stack;
  stack.frames.push_back({.code = nullptr, .address = 9});
  for (const bool comes_before : {true, false}) {
    Stacks stacks({}, host_, 0);
    Window window(0, {}, stacks, kernel_stacks_, control_groups_);
    if (!comes_before) Add(window, Event(1, 10));
    EXPECT_EQ(window.has_all_stacks(), comes_before);
    stacks.Fail(2, NoUserStack::kGone);
    stacks.Resolve(1, stack);
    if (comes_before) Add(window, Event(1, 10));
    for (const StackNews& news : stacks.TakeNews()) window.TakeIn(news);
    EXPECT_TRUE(window.has_all_stacks());
    Add(window, Event(2, 70));
    const Profile profile = window.Finish({});
    std::map<uint64_t, UserStackEntry> found;  // by blocked time
    for (const ProfileRow& row : profile.rows) found[row.blocked_ns] = profile.user_stacks[row.user_stack];
    EXPECT_EQ(found[10].stack, stack);
    EXPECT_EQ(found[70].missing, NoUserStack::kGone);
  }
}

// Others' outcomes make no entries.
TEST_F(WindowTest, UserStacksAreThoseThatItUses) {
  Window window(0, {}, stacks_, kernel_stacks_, control_groups_);
  Add(window, Event(1, 10));
  stacks_.Fail(1, NoUserStack::kGone);
  stacks_.Resolve(2, UserStack());
  for (const StackNews& news : stacks_.TakeNews()) window.TakeIn(news);
  EXPECT_THAT(window.Finish({}).user_stacks, SizeIs(1));
}

// A waker of the chain may be known already, when the others are not, and a reason beats a cookie.
TEST_F(WindowTest, WakersHaveTheOutcomesOfTheirCookies) {
  UserStack stack;
  stack.frames.push_back({.code = nullptr, .address = 9});
  Window window(0, {}, stacks_, kernel_stacks_, control_groups_);
  stacks_.Resolve(2, stack);
  stacks_.Resolve(3, stack);
  IntervalEvent event = Event(1, 10);
  event.wakers = {{.process = kProcess, .cookie = 2, .kernel_stack = 5},
                  {.process = kProcess, .cookie = 3, .missing = NoUserStack::kNotAsked, .kernel_stack = 5},
                  {.process = kProcess, .cookie = 4, .kernel_stack = 5}};
  Add(window, event);
  stacks_.Resolve(1, stack);
  stacks_.Fail(4, NoUserStack::kExiting);
  for (const StackNews& news : stacks_.TakeNews()) window.TakeIn(news);
  EXPECT_TRUE(window.has_all_stacks());
  const Profile profile = window.Finish({});
  EXPECT_EQ(StackOf(profile), stack);
  const WakerChain& chain = profile.wakers.at(0);
  ASSERT_THAT(chain, SizeIs(3));
  EXPECT_EQ(profile.user_stacks[chain[0].user_stack].stack, stack);
  EXPECT_EQ(profile.user_stacks[chain[1].user_stack].missing, NoUserStack::kNotAsked);
  EXPECT_EQ(profile.user_stacks[chain[2].user_stack].missing, NoUserStack::kExiting);
}

TEST_F(WindowTest, WalksOfBpfProgramsAreCounted) {
  UserStack stack;
  stack.frames.push_back({.code = nullptr, .address = 9});
  Window window(0, {}, stacks_, kernel_stacks_, control_groups_);
  IntervalEvent sum = Event(0, 10);
  sum.waits = 6;
  for (const IntervalEvent& event : {Event(0, 10), sum})
    window.Add(event, {.id = 8, .stack = &stack}, {.blocked_ns = 10}, event.kind);
  window.Add(Event(0, 10), {.stack = &stack}, {.blocked_ns = 10}, WaitKind::kSleeping);  // it was read from outside
  const Profile profile = window.Finish({});
  EXPECT_EQ(profile.stats.walked_at_switch, 7u);
  EXPECT_EQ(profile.stats.summed_at_switch, 6u);
  ASSERT_THAT(profile.rows, SizeIs(1));
  EXPECT_EQ(StackOf(profile), stack);
}

TEST_F(WindowTest, WhatStillWaitsIsPending) {
  Window window(0, {}, stacks_, kernel_stacks_, control_groups_);
  EXPECT_TRUE(window.has_all_stacks());
  Add(window, Event(1, 10));
  EXPECT_FALSE(window.has_all_stacks());
  const Profile profile = window.Finish({});
  EXPECT_EQ(profile.user_stacks[profile.rows[0].user_stack].missing, NoUserStack::kPending);
}

TEST_F(WindowTest, LossesOfOneReasonAreOne) {
  Window window(0, {}, stacks_, kernel_stacks_, control_groups_);
  window.CountLoss(LossId::kIntervalLate, 1, 10);
  window.CountLoss(LossId::kIntervalLate, 2, 5);
  window.CountLoss(LossId::kSampleLate, 0, 0);
  EXPECT_THAT(window.Finish({{.reason = "ring full", .count = 1}}).stats.losses,
              ElementsAre(LossIs("ring full", 1u, 0u), LossIs("interval came after its window", 3u, 15u)));
}

TEST(LossesSinceTest, OnlyWhatHasGrown) {
  const std::vector<Loss> before = {{.reason = "a", .count = 1, .ns = 10}, {.reason = "b", .count = 2, .ns = 20}};
  const std::vector<Loss> now = {{.reason = "a", .count = 1, .ns = 10},
                                 {.reason = "b", .count = 5, .ns = 25},
                                 {.reason = "c", .count = 1, .ns = 0}};
  EXPECT_THAT(LossesSince(before, now), ElementsAre(LossIs("b", 3u, 5u), LossIs("c", 1u, 0u)));
  EXPECT_THAT(LossesSince(now, now), IsEmpty());
}

}  // namespace
}  // namespace offcpu

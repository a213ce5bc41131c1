// Whose stacks are read from outside, and which waits they serve.
#include "recorder/live_path.h"

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/recorder/made_up_events.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class LivePathTest : public ::testing::Test {
 protected:
  using Read = std::function<std::vector<LiveStack>(const std::vector<WaitingThread>&)>;

  LivePathTest() { Make({}, 16); }

  void Make(const TargetsConfig& config, size_t unread_batches) {
    targets_ = std::make_unique<Targets>(
        config,
        Targets::Hooks{.look = [](const ProcessKey&, int32_t, const auto&) { return ProcessLook(); },
                       .owner = [](pid_t) { return uid_t{0}; },
                       .readers = std::make_shared<ReaderPool>(ReaderLimits{.serving = 1}),
                       .forget_code_list = [](uint64_t) {},
                       .void_code = [](uint64_t) {},
                       .files = std::make_shared<SharedFiles>(10),
                       .walk = [](const CaptureEvent&, const CaptureCode&) {},
                       .give_up = [](uint64_t, NoUserStack) {},
                       .describe = [](const ProcessInfo&) {}},
        now_ns_);
    live_ = std::make_unique<LivePath>(
        *targets_,
        LivePath::Hooks{
            .read_stacks = [read = read_](const std::vector<WaitingThread>& threads) { return (*read)(threads); },
            .capture = [this](CaptureEvent&& capture) { captures_.push_back(std::move(capture)); },
            .give_up = [this](uint64_t cookie, NoUserStack reason) { given_up_.emplace(cookie, reason); },
        },
        unread_batches, now_ns_);
  }

  void Settle() {
    do {
      std::this_thread::yield();
      targets_->Tick(now_ns_);
      live_->Tick(now_ns_);
    } while (!targets_->idle() || !live_->idle());
  }

  static std::vector<LiveStack> Found(const std::vector<WaitingThread>& threads) {
    std::vector<LiveStack> stacks;
    for (const WaitingThread& thread : threads) stacks.push_back({.capture = ACapture(0, kVersion1, thread.process)});
    return stacks;
  }
  static Read Missing(NoUserStack reason) {
    return [reason](const std::vector<WaitingThread>& threads) {
      return std::vector<LiveStack>(threads.size(), {.missing = reason});
    };
  }

  Interval FindStack(const IntervalEvent& event) {
    Interval interval = {.cookie = event.cookie, .missing = event.missing};
    live_->FindStack(event, window_, &interval);
    return interval;
  }
  static IntervalEvent OpenInterval(uint64_t switches) {
    IntervalEvent event = AnInterval(0, 10);
    event.kind = WaitKind::kOpen;
    event.missing = NoUserStack::kPending;
    event.switches = switches;
    return event;
  }

  uint64_t now_ns_ = 1'000'000'000'000'000;
  // A reader that is given up outlives the test, and has its own hold on what it runs.
  std::shared_ptr<Read> read_ = std::make_shared<Read>(Found);
  std::vector<CaptureEvent> captures_;
  std::multimap<uint64_t, NoUserStack> given_up_;  // by cookie
  KernelStacks kernel_stacks_{100, [](uint64_t) {}};
  ControlGroups control_groups_{[](uint64_t) { return std::string("/"); }};
  Window window_{0, {}, kernel_stacks_, control_groups_};
  std::unique_ptr<Targets> targets_;
  std::unique_ptr<LivePath> live_;
};

TEST_F(LivePathTest, AStackIsReadOnceAWait) {
  for (int i = 0; i < 3; ++i) {
    live_->Read({AWaitingThread(1)});
    Settle();
  }
  ASSERT_THAT(captures_, SizeIs(1));
  EXPECT_NE(captures_[0].cookie, 0u);
  live_->Read({AWaitingThread(2)});
  Settle();
  ASSERT_THAT(captures_, SizeIs(2)) << "another wait of the thread";
  EXPECT_NE(captures_[0].cookie, captures_[1].cookie);
}

TEST_F(LivePathTest, ItServesTheWaitHoweverThatEnds) {
  live_->Read({AWaitingThread(1)});
  Settle();
  ASSERT_THAT(captures_, SizeIs(1));
  const uint64_t cookie = captures_[0].cookie;
  EXPECT_EQ(FindStack(OpenInterval(1)).cookie, cookie);
  EXPECT_EQ(FindStack(OpenInterval(2)).cookie, 0u) << "another wait";

  UserStack stack;
  stack.frames.push_back({.code = nullptr, .address = 9});
  EXPECT_EQ(live_->Resolve(cookie, stack), 0u);
  IntervalEvent ended = AnInterval(77, 10);
  ended.switches = 1;
  const Interval interval = FindStack(ended);
  EXPECT_EQ(interval.cookie, cookie) << "its own capture is not needed any more";
  ASSERT_NE(window_.FindOutcome(cookie), nullptr);
  EXPECT_EQ(window_.FindOutcome(cookie)->stack, stack);
}

// The wait has ended before its stack was read: its own capture serves the windows that it was open in.
TEST_F(LivePathTest, TheCaptureOfTheWaitServesItToo) {
  *read_ = Missing(NoUserStack::kStale);
  live_->Read({AWaitingThread(1)});
  const uint64_t cookie = FindStack(OpenInterval(1)).cookie;
  ASSERT_NE(cookie, 0u);
  IntervalEvent ended = AnInterval(77, 10);
  ended.switches = 1;
  EXPECT_EQ(FindStack(ended).cookie, 77u);
  Settle();
  EXPECT_THAT(given_up_, IsEmpty()) << "it may still come";
  EXPECT_EQ(live_->Resolve(77, UserStack()), cookie);
}

TEST_F(LivePathTest, WhatIsStaleIsGivenUpAfterAWhile) {
  *read_ = Missing(NoUserStack::kStale);
  live_->Read({AWaitingThread(1)});
  Settle();
  now_ns_ += 99'999'999;
  live_->Tick(now_ns_);
  EXPECT_THAT(given_up_, IsEmpty());
  now_ns_ += 1;
  live_->Tick(now_ns_);
  ASSERT_THAT(given_up_, SizeIs(1));
  EXPECT_EQ(given_up_.begin()->second, NoUserStack::kStale);
}

TEST_F(LivePathTest, WhatCannotBeReadIsSaidWhy) {
  *read_ = Missing(NoUserStack::kUnreadable);
  live_->Read({AWaitingThread(1)});
  Settle();
  ASSERT_THAT(given_up_, SizeIs(1));
  EXPECT_EQ(FindStack(OpenInterval(1)).missing, NoUserStack::kUnreadable);
}

// A read that hangs keeps others of its process from being begun, and so does a batch too many.
TEST_F(LivePathTest, ReadsThatHangAreBounded) {
  Make({.deadline = std::chrono::milliseconds(20)}, 1);
  const auto end = std::make_shared<std::promise<void>>();
  const std::shared_future<void> ended = end->get_future().share();
  *read_ = [ended](const std::vector<WaitingThread>& threads) {
    ended.wait();
    return Found(threads);
  };
  live_->Read({AWaitingThread(1)});
  Settle();
  EXPECT_THAT(given_up_, SizeIs(1));
  EXPECT_TRUE(targets_->IsStuck(kProcess));
  live_->Read({AWaitingThread(2)});
  ASSERT_THAT(given_up_, SizeIs(2)) << "without a thread that it would take";
  EXPECT_EQ(given_up_.rbegin()->second, NoUserStack::kTargetStuck);
  end->set_value();
}

TEST_F(LivePathTest, ManyThreadsAreReadInBatches) {
  std::vector<WaitingThread> threads;
  for (int32_t i = 0; i < 3 * static_cast<int32_t>(kLiveThreadsAtOnce); ++i) {
    threads.push_back(AWaitingThread(1));
    threads.back().tid = 1000 + i;
  }
  Make({}, 2);
  live_->Read(threads);
  EXPECT_THAT(given_up_, SizeIs(kLiveThreadsAtOnce)) << "there is room for two batches";
  Settle();
  EXPECT_THAT(captures_, SizeIs(2 * kLiveThreadsAtOnce));
}

}  // namespace
}  // namespace offcpu

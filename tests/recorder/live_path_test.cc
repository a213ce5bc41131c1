// Whose stacks are read from outside, and what becomes of them.
#include "recorder/live_path.h"

#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/recorder/fake_host.h"

namespace offcpu {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class LivePathTest : public ::testing::Test {
 protected:
  LivePathTest() { Make({}, 16); }

  void Make(const TargetsConfig& config, size_t unread_batches) {
    host_ = std::make_shared<FakeHost>(ReaderLimits{.serving = 1});
    host_->processes->SetCode(kProcess.pid, kVersion1, SpaceAt(kCode));
    stacks_ = std::make_unique<Stacks>(Stacks::Limits(), *host_, now_ns_);
    targets_ = std::make_unique<Targets>(config, host_, *stacks_, now_ns_);
    live_ = std::make_unique<LivePath>(*targets_, *stacks_, host_, unread_batches, now_ns_);
  }

  void Read(const std::vector<WaitingThread>& threads) {
    live_->Read(threads);
    PassOn();
  }
  void Tick() {
    targets_->Tick(now_ns_);
    live_->Tick(now_ns_);
    PassOn();
  }
  void Settle() {
    do {
      std::this_thread::yield();
      Tick();
    } while (!targets_->idle() || !live_->idle());
  }
  void PassOn() {
    for (ReadyCapture& ready : targets_->TakeReady()) captures_.push_back(std::move(ready.event));
    for (const StackNews& news : stacks_->TakeNews()) {
      if (news.outcome.stack == nullptr) given_up_.emplace(news.cookie, news.outcome.missing);
    }
  }

  static FakeHost::ReadFunction Missing(NoUserStack reason) {
    return [reason](const std::vector<WaitingThread>& threads) {
      return std::vector<LiveStack>(threads.size(), {.missing = reason});
    };
  }
  static IntervalEvent OpenInterval(uint64_t switches) {
    IntervalEvent event = AnInterval(0, 10);
    event.kind = WaitKind::kOpen;
    event.missing = NoUserStack::kPending;
    event.switches = switches;
    return event;
  }

  uint64_t now_ns_ = 1'000'000'000'000'000;
  std::shared_ptr<FakeHost> host_;  // a reader that is given up outlives the test, and has its own hold on it
  std::vector<CaptureEvent> captures_;
  std::multimap<uint64_t, NoUserStack> given_up_;  // by cookie
  std::unique_ptr<Stacks> stacks_;
  std::unique_ptr<Targets> targets_;
  std::unique_ptr<LivePath> live_;
};

TEST_F(LivePathTest, AStackIsReadOnceAWait) {
  for (int i = 0; i < 3; ++i) {
    Read({AWaitingThread(1)});
    Settle();
  }
  ASSERT_THAT(captures_, SizeIs(1));
  EXPECT_NE(captures_[0].cookie, 0u);
  Read({AWaitingThread(2)});
  Settle();
  ASSERT_THAT(captures_, SizeIs(2)) << "another wait of the thread";
  EXPECT_EQ(live_->TakeRead(), 2u);
  EXPECT_EQ(live_->TakeRead(), 0u) << "since then";
  EXPECT_NE(captures_[0].cookie, captures_[1].cookie);
}

// The wait has ended before its stack was read: its own capture serves the windows that it was open in too.
TEST_F(LivePathTest, TheCaptureOfTheWaitServesItToo) {
  host_->read = Missing(NoUserStack::kStale);
  Read({AWaitingThread(1)});
  const uint64_t cookie = stacks_->FindFor(OpenInterval(1)).cookie;
  ASSERT_NE(cookie, 0u);
  IntervalEvent ended = AnInterval(77, 10);
  ended.switches = 1;
  EXPECT_EQ(stacks_->FindFor(ended).cookie, 77u);
  Settle();
  EXPECT_THAT(given_up_, IsEmpty()) << "it may still come";
  stacks_->Resolve(77, UserStack());
  EXPECT_NE(stacks_->Find(cookie)->stack, nullptr);
}

TEST_F(LivePathTest, WhatIsStaleIsGivenUpAfterAWhile) {
  host_->read = Missing(NoUserStack::kStale);
  Read({AWaitingThread(1)});
  Settle();
  now_ns_ += 99'999'999;
  Tick();
  EXPECT_THAT(given_up_, IsEmpty());
  now_ns_ += 1;
  Tick();
  ASSERT_THAT(given_up_, SizeIs(1));
  EXPECT_EQ(given_up_.begin()->second, NoUserStack::kStale);
}

TEST_F(LivePathTest, WhatCannotBeReadIsSaidWhy) {
  host_->read = Missing(NoUserStack::kUnreadable);
  Read({AWaitingThread(1)});
  Settle();
  ASSERT_THAT(given_up_, SizeIs(1));
  EXPECT_EQ(stacks_->FindFor(OpenInterval(1)).missing, NoUserStack::kUnreadable);
}

// A read that hangs keeps others of its process from being begun, and so does a batch too many.
TEST_F(LivePathTest, ReadsThatHangAreBounded) {
  Make({.deadline = std::chrono::milliseconds(20)}, 1);
  const auto end = std::make_shared<std::promise<void>>();
  const std::shared_future<void> ended = end->get_future().share();
  host_->read = [ended](const std::vector<WaitingThread>& threads) {
    ended.wait();
    return std::vector<LiveStack>(threads.size(), {.missing = NoUserStack::kStale});
  };
  Read({AWaitingThread(1)});
  Settle();
  EXPECT_THAT(given_up_, SizeIs(1));
  EXPECT_TRUE(targets_->IsStuck(kProcess));
  Read({AWaitingThread(2)});
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
  Read(threads);
  EXPECT_THAT(given_up_, SizeIs(kLiveThreadsAtOnce)) << "there is room for two batches";
  Settle();
  EXPECT_THAT(captures_, SizeIs(2 * kLiveThreadsAtOnce));
}

}  // namespace
}  // namespace offcpu

#include "daemon/stack_requests.h"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

using Clock = StackRequests::Clock;

const UnwindOrder kByFramePointer = {.sources = {FrameSource::kFramePointer}};

bool Never() { return false; }

// Listing the threads of process N takes until it is let go on, and fails then: what is read of them is not looked at
// here.
class StackRequestsTest : public ::testing::Test {
 protected:
  std::future<absl::Status> Ask(int pid, Clock::duration patience = std::chrono::hours(1), IsCancelled gone = Never) {
    return std::async(std::launch::async, [this, pid, patience, gone = std::move(gone)] {
      return requests_.Format({.pid = pid, .unwind = kByFramePointer}, Clock::now() + patience, gone).status();
    });
  }
  void AwaitListed(size_t count) {
    while (Listed().size() < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::vector<pid_t> Listed() {
    const std::lock_guard lock(mutex_);
    return listed_;
  }

  absl::StatusOr<std::vector<WaitingThread>> List(pid_t pid) {
    {
      const std::lock_guard lock(mutex_);
      listed_.push_back(pid);
    }
    while (!go_on_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return absl::AbortedError("listed");
  }

  std::mutex mutex_;
  std::vector<pid_t> listed_;  // guarded by mutex_
  std::atomic<bool> go_on_ = false;
  std::atomic<int> loads_ = 0;
  StackRequests requests_{std::make_shared<ReaderPool>(), std::make_shared<ModuleCache>(), [this] {
                            ++loads_;
                            Listing listing;
                            listing.list = [this](pid_t pid) { return List(pid); };
                            return listing;
                          }};
};

TEST_F(StackRequestsTest, TwoAreServedAtATimeAndTheOthersInTheirOrder) {
  std::vector<std::future<absl::Status>> asked;
  for (int pid = 1; pid <= 2; ++pid) {
    asked.push_back(Ask(pid));
    AwaitListed(static_cast<size_t>(pid));
  }
  for (int pid = 3; pid <= 5; ++pid) {
    const auto waits = std::make_shared<std::atomic<bool>>(false);  // it is asked then whether its client has gone
    asked.push_back(Ask(pid, std::chrono::hours(1), [waits] {
      *waits = true;
      return false;
    }));
    while (!*waits && Listed().size() == 2) std::this_thread::yield();
  }
  EXPECT_EQ(Listed(), (std::vector<pid_t>{1, 2}));
  go_on_ = true;
  for (auto& one : asked) EXPECT_EQ(one.get(), absl::AbortedError("listed"));
  EXPECT_EQ(Listed().size(), 5u);
  EXPECT_NE(Listed()[2], 5) << "the two before it have their turn at the same time, and it comes after one of them";
  EXPECT_EQ(loads_, 1) << "the programs are everybody's";
}

TEST_F(StackRequestsTest, WhoWaitsGoesWhenHisTimeIsOverOrHisClientHasGone) {
  std::vector<std::future<absl::Status>> served;
  for (int pid = 1; pid <= 2; ++pid) served.push_back(Ask(pid));
  AwaitListed(2);
  EXPECT_EQ(Ask(3, std::chrono::milliseconds(20)).get().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Ask(4, std::chrono::hours(1), [] { return true; }).get().code(), absl::StatusCode::kCancelled);
  go_on_ = true;
  for (auto& one : served) EXPECT_EQ(one.get(), absl::AbortedError("listed"));
  EXPECT_EQ(Ask(5).get(), absl::AbortedError("listed"));
  EXPECT_EQ(Listed().size(), 3u);
}

TEST_F(StackRequestsTest, WhatCannotBeLoadedIsTriedAgain) {
  int loads = 0;
  StackRequests requests(std::make_shared<ReaderPool>(), std::make_shared<ModuleCache>(),
                         [&loads]() -> absl::StatusOr<Listing> {
                           ++loads;
                           return absl::UnavailableError("no memory");
                         });
  for (int i = 1; i <= 3; ++i) {
    EXPECT_EQ(requests.Format({.unwind = kByFramePointer}, Clock::now() + std::chrono::seconds(1), Never).status(),
              absl::UnavailableError("no memory"));
    EXPECT_EQ(loads, i);
  }
}

}  // namespace
}  // namespace offcpu

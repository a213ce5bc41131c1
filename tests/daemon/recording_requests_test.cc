#include "daemon/recording_requests.h"

#include <chrono>
#include <future>
#include <vector>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

using Clock = RecordingRequests::Clock;
using Wanted = RecordingRequests::Wanted;

Clock::time_point Soon() { return Clock::now() + std::chrono::seconds(20); }

class RecordingRequestsTest : public ::testing::Test {
 protected:
  std::future<absl::Status> AskForCut() {
    return std::async(std::launch::async, [this] { return requests_.AwaitCut(Soon()); });
  }
  // What the thread knows when the last of so many calls has come.
  Wanted AwaitCalls(uint64_t calls) {
    const Clock::time_point end = Soon();
    Wanted wanted = requests_.Await(end);
    while (wanted.last_cut < calls && Clock::now() < end) wanted = requests_.Await(end);
    EXPECT_EQ(wanted.last_cut, calls);
    return wanted;
  }

  RecordingRequests requests_;
};

TEST_F(RecordingRequestsTest, NothingIsWantedAtFirst) {
  const Wanted wanted = requests_.Await(Clock::now());
  EXPECT_FALSE(wanted.stop);
  EXPECT_FALSE(wanted.cut);
  EXPECT_FALSE(wanted.config.has_value());
}

TEST_F(RecordingRequestsTest, ACutServesAllWhoAskedBeforeItBeganAndNobodyElse) {
  std::vector<std::future<absl::Status>> first;
  for (int i = 0; i < 20; ++i) first.push_back(AskForCut());
  EXPECT_TRUE(AwaitCalls(20).cut);
  std::future<absl::Status> late = AskForCut();
  EXPECT_TRUE(AwaitCalls(21).cut);
  requests_.CutDone(20, absl::InternalError("the first"));
  for (std::future<absl::Status>& status : first) EXPECT_EQ(status.get().message(), "the first");
  EXPECT_EQ(late.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  const Wanted wanted = requests_.Await(Clock::now());
  EXPECT_TRUE(wanted.cut);
  requests_.CutDone(wanted.last_cut, absl::OkStatus());
  EXPECT_TRUE(late.get().ok());
  EXPECT_FALSE(requests_.Await(Clock::now()).cut);
}

TEST_F(RecordingRequestsTest, WhoAsksDoesNotWaitForEver) {
  EXPECT_EQ(requests_.AwaitCut(Clock::now()).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(requests_.Await(Clock::now()).cut) << "the thread need not know";
}

TEST_F(RecordingRequestsTest, NobodyWaitsForACutAfterAnInterrupt) {
  std::future<absl::Status> before = AskForCut();
  AwaitCalls(1);
  requests_.Interrupt();
  EXPECT_EQ(before.get().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(requests_.AwaitCut(Soon()).code(), absl::StatusCode::kCancelled);
}

TEST_F(RecordingRequestsTest, AConfigurationIsWantedUntilTheThreadHasGoneOverToIt) {
  DaemonConfig config;
  config.windows.keep = 3;
  std::future<absl::Status> reload =
      std::async(std::launch::async, [this, &config] { return requests_.AwaitReload(config); });
  EXPECT_EQ(requests_.Await(Soon()).config, config);
  EXPECT_EQ(requests_.Await(Clock::now()).config, config);
  requests_.Reloaded(absl::InternalError("it cannot be"));
  EXPECT_EQ(reload.get().message(), "it cannot be");
  EXPECT_FALSE(requests_.Await(Clock::now()).config.has_value());
}

TEST_F(RecordingRequestsTest, TheThreadStopsThoughNobodyAsks) {
  std::future<Wanted> wanted = std::async(std::launch::async, [this] { return requests_.Await(Soon()); });
  requests_.Stop();
  EXPECT_TRUE(wanted.get().stop);
}

}  // namespace
}  // namespace offcpu

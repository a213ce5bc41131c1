#include "daemon/recording.h"

#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "fake_recorder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using Clock = std::chrono::steady_clock;

Clock::time_point Soon() { return Clock::now() + std::chrono::seconds(20); }

class RecordingTest : public ::testing::Test {
 protected:
  static DaemonConfig Config(uint64_t length_ns = 3600'000'000'000) {
    DaemonConfig config;
    config.windows.length_ns = length_ns;
    return config;
  }
  std::unique_ptr<Recording> Start(const DaemonConfig& config) {
    absl::StatusOr<std::unique_ptr<Recording>> recording = Recording::Start(config, StartFake(kernel_));
    EXPECT_TRUE(recording.ok()) << recording.status();
    return *std::move(recording);
  }

  // It looks whether all goes on before each cut.
  static void CutTwice(Recording& recording) {
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(recording.CutNow(Soon()).ok());
  }

  FakeKernel kernel_;
};

TEST_F(RecordingTest, DoesNotStartWithoutARecorder) {
  kernel_.refuse_start = true;
  EXPECT_FALSE(Recording::Start(Config(), StartFake(kernel_)).ok());
}

TEST_F(RecordingTest, WindowsEndByThemselves) {
  const auto recording = Start(Config(1'000'000));
  const Clock::time_point end = Soon();
  while (recording->windows().stats().ended < 3 && Clock::now() < end) std::this_thread::yield();
  EXPECT_GE(recording->windows().stats().ended, 3u);
}

TEST_F(RecordingTest, EveryWindowGoesToTheSinkAndTheLastOneToo) {
  std::vector<uint64_t> blocked_ns;  // of the first row, which is the number of the cut
  const auto sink = [&blocked_ns](const WindowPieces& window) {
    for (const auto& piece : window) blocked_ns.push_back(piece->rows[0].blocked_ns);
  };
  {
    const auto recording = *Recording::Start(Config(), StartFake(kernel_), sink);
    ASSERT_TRUE(recording->CutNow(Soon()).ok());
    ASSERT_TRUE(recording->CutNow(Soon()).ok());
    EXPECT_THAT(blocked_ns, SizeIs(0)) << "the window has not ended";
    DaemonConfig other = Config();
    other.record.kernel_threads = true;
    ASSERT_TRUE(recording->Reload(other).ok());  // ends it: cut 3
    EXPECT_THAT(blocked_ns, ElementsAre(1, 2, 3));
  }
  EXPECT_THAT(blocked_ns, ElementsAre(1, 2, 3, 4));
}

TEST_F(RecordingTest, AsksForTheRunningWindowAreServedAtOnce) {
  const auto recording = Start(Config());
  ASSERT_TRUE(recording->CutNow(Soon()).ok());
  EXPECT_THAT(recording->windows().Between(0, 0), SizeIs(1));
  EXPECT_EQ(recording->windows().stats().ended, 0u) << "it goes on";
  ASSERT_TRUE(recording->CutNow(Soon()).ok());
  EXPECT_THAT(recording->windows().Between(0, 0), SizeIs(2));
}

TEST_F(RecordingTest, ACutThatFailsIsTold) {
  const auto recording = Start(Config());
  kernel_.refuse_cut = true;
  EXPECT_EQ(recording->CutNow(Soon()).message(), "the window could not be cut");
  EXPECT_EQ(recording->last_error(), "the window could not be cut");
  kernel_.refuse_cut = false;
  EXPECT_TRUE(recording->CutNow(Soon()).ok());
}

TEST_F(RecordingTest, WhatIsKeptChangesWithoutANewRecorder) {
  const auto recording = Start(Config());
  ASSERT_TRUE(recording->CutNow(Soon()).ok());
  DaemonConfig config = Config();
  config.windows.keep = 3;
  EXPECT_TRUE(recording->Reload(config).ok());
  EXPECT_EQ(recording->config(), config);
  EXPECT_EQ(kernel_.started, 1);
  EXPECT_THAT(recording->windows().Between(0, 0), SizeIs(1));
}

TEST_F(RecordingTest, ANewRecorderStartsBeforeTheOldOneStops) {
  const auto recording = Start(Config());
  DaemonConfig config = Config();
  config.record.kernel_threads = true;
  EXPECT_TRUE(recording->Reload(config).ok());
  EXPECT_EQ(kernel_.started, 2);
  EXPECT_EQ(kernel_.most_running, 2);
  EXPECT_EQ(kernel_.running, 1);
  EXPECT_THAT(recording->windows().Between(0, 0), SizeIs(1)) << "what the old one had is a window";
  EXPECT_EQ(recording->windows().stats().ended, 1u);
}

TEST_F(RecordingTest, ABadReloadLeavesAllAsItWas) {
  const auto recording = Start(Config());
  kernel_.refuse_start = true;
  DaemonConfig config = Config();
  config.record.kernel_threads = true;
  config.windows.keep = 3;
  EXPECT_EQ(recording->Reload(config).message(), "the recorder did not start");
  EXPECT_EQ(recording->config(), Config());
  EXPECT_TRUE(recording->CutNow(Soon()).ok()) << "the old recorder goes on";
}

TEST_F(RecordingTest, BeatsAsLongAsWindowsCanBeCut) {
  const auto recording = Start(Config());
  const Clock::time_point start = Clock::now();
  CutTwice(*recording);
  const Clock::duration since_beat = recording->since_beat();
  EXPECT_LT(since_beat, Clock::now() - start);
}

TEST_F(RecordingTest, DoesNotBeatIfEitherThreadOfTheRecorderStandsStill) {
  for (std::atomic<bool>* stop : {&kernel_.stop_drainer, &kernel_.stop_worker}) {
    const auto recording = Start(Config());
    *stop = true;
    CutTwice(*recording);
    const Clock::time_point stopped = Clock::now();
    CutTwice(*recording);
    const Clock::duration elapsed = Clock::now() - stopped;
    EXPECT_GE(recording->since_beat(), elapsed);
    *stop = false;
    CutTwice(*recording);
    const Clock::duration since_beat = recording->since_beat();
    EXPECT_LT(since_beat, Clock::now() - stopped);
  }
}

}  // namespace
}  // namespace offcpu

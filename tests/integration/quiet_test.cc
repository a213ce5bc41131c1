// Beside what does next to nothing, the recorder itself wakes up rarely: that is most of what it costs there.
#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "recorder/record_config.h"
#include "tests/integration/harness.h"

namespace offcpu::integration {
namespace {

using Clock = std::chrono::steady_clock;

// The first looks are done, and the drainer has come to its longest period.
constexpr std::chrono::milliseconds kSettles{1500};

struct WakeUps {
  double drains = 0;  // a second
  double turns = 0;   // of the worker, likewise
};

WakeUps Beside(pid_t pid, RecordConfig config) {
  config.pids = {pid};
  const absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(config);
  EXPECT_TRUE(recorder.ok()) << recorder.status();
  if (!recorder.ok()) return {};
  std::this_thread::sleep_for(kSettles);
  const Clock::time_point begin = Clock::now();
  const RecorderProgress before = (*recorder)->progress();
  std::this_thread::sleep_for(std::chrono::seconds(3));
  const RecorderProgress after = (*recorder)->progress();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  const WakeUps wake_ups = {.drains = static_cast<double>(after.drains - before.drains) / seconds,
                            .turns = static_cast<double>(after.turns - before.turns) / seconds};
  std::printf("a second: %.1f looks at the rings, %.1f turns of the worker\n", wake_ups.drains, wake_ups.turns);
  EXPECT_GT(wake_ups.drains, 0);
  EXPECT_GT(wake_ups.turns, 0);
  return wake_ups;
}

WakeUps BesideASleeper(const RecordConfig& config) {
  const std::unique_ptr<Program> sleeper = Program::Start({"sleep", "60"});
  EXPECT_NE(sleeper, nullptr);
  return sleeper == nullptr ? WakeUps() : Beside(sleeper->pid(), config);
}

// Looks at the rings every 40 ms: a host that becomes busy fills them in less than a second. Turns every 200 ms.
void ExpectRare(const WakeUps& wake_ups) {
  EXPECT_LE(wake_ups.drains, 28);
  EXPECT_LE(wake_ups.turns, 7);
}

TEST(Quiet, OfASampleItWakesUpRarely) {
  RecordConfig config;
  AdaptSample(kDrawsPerCpuAlways, config);
  ExpectRare(BesideASleeper(config));
}

TEST(Quiet, OfAllWaitsItWakesUpRarely) { ExpectRare(BesideASleeper(RecordConfig())); }

// A record for each of them, of 150 bytes: as many in 40 ms are few.
TEST(Quiet, AThousandWaitsASecondAreFew) {
  const std::unique_ptr<Target> target =
      Target::Start({"nappers", "--threads", "2", "--nap-ms", "2", "--seconds", "60"});
  ASSERT_NE(target, nullptr);
  target->Go();
  RecordConfig config;
  config.sums = false;
  EXPECT_LE(Beside(target->pid(), config).drains, 40);
}

}  // namespace
}  // namespace offcpu::integration

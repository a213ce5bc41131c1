// Beside what does next to nothing, the recorder itself wakes up rarely: that is most of what it costs there.
#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <thread>

#include "bpf/wire.h"
#include "recorder/record_config.h"
#include "tests/integration/harness.h"
#include "tests/integration/undrained.h"

namespace offcpu::integration {
namespace {

using Clock = std::chrono::steady_clock;

// The first looks are done, and the drainer has come to its longest period.
constexpr std::chrono::milliseconds kSettles{1500};
// And to that of a sample, which it takes its time for.
constexpr std::chrono::milliseconds kSampleSettles{6000};

struct WakeUps {
  double drains = 0;  // a second
  double turns = 0;   // of the worker, likewise
};

WakeUps Beside(pid_t pid, RecordConfig config, std::chrono::milliseconds settles = kSettles) {
  config.pids = {pid};
  const absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(config);
  EXPECT_TRUE(recorder.ok()) << recorder.status();
  if (!recorder.ok()) return {};
  std::this_thread::sleep_for(settles);
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

WakeUps BesideASleeper(const RecordConfig& config, std::chrono::milliseconds settles = kSettles) {
  const std::unique_ptr<Program> sleeper = Program::Start({"sleep", "60"});
  EXPECT_NE(sleeper, nullptr);
  return sleeper == nullptr ? WakeUps() : Beside(sleeper->pid(), config, settles);
}

RecordConfig OfASample() {
  RecordConfig config;
  AdaptSample(kDrawsPerCpuAlways, config);
  return config;
}

// Looks at the rings every 40 ms: a host that becomes busy fills them in less than a second. Turns every 200 ms.
void ExpectRare(const WakeUps& wake_ups) {
  EXPECT_LE(wake_ups.drains, 28);
  EXPECT_LE(wake_ups.turns, 7);
}

TEST(Quiet, OfASampleItWakesUpRarelyFromTheBeginning) { ExpectRare(BesideASleeper(OfASample())); }

// Looks every 160 ms.
TEST(Quiet, OfASampleItWakesUpMoreRarelyLaterOn) {
  const WakeUps wake_ups = BesideASleeper(OfASample(), kSampleSettles);
  EXPECT_LE(wake_ups.drains, 7);
  EXPECT_LE(wake_ups.turns, 7);
}

// Each has its capture, which is much more than what is much for all waits.
TEST(Quiet, HundredsOfDrawsASecondAreFewLaterOn) {
  const std::unique_ptr<Target> target =
      Target::Start({"nappers", "--threads", "2", "--nap-ms", "4", "--seconds", "60"});
  ASSERT_NE(target, nullptr);
  target->Go();
  EXPECT_LE(Beside(target->pid(), OfASample(), kSampleSettles).drains, 9);
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

bool IsCapture(std::span<const std::byte> record) {
  uint32_t type = 0;
  if (record.size() >= sizeof(type)) std::memcpy(&type, record.data(), sizeof(type));
  return type == WIRE_CAPTURE;
}

// Of captures, or of the rest, when a ring has told that it fills. 0: it did not.
size_t BytesWhenTold(RecordConfig config, bool of_captures) {
  const std::unique_ptr<Target> target =
      Target::Start({"nappers", "--threads", "2", "--nap-ms", "4", "--seconds", "60"});
  EXPECT_NE(target, nullptr);
  if (target == nullptr) return 0;
  config.pids = {target->pid()};
  const absl::StatusOr<std::unique_ptr<Programs>> programs = LoadFor(config);
  EXPECT_TRUE(programs.ok()) << programs.status();
  if (!programs.ok()) return 0;
  size_t bytes = 0;
  const auto drain = [&] {
    bytes = 0;
    (*programs)->Drain([&](std::span<const std::byte> record) {
      if (IsCapture(record) == of_captures) bytes += record.size();
    });
  };
  (*programs)->Arm();
  target->Go();
  // Code that was not known is told as soon as it is seen.
  constexpr std::chrono::milliseconds kLook{100};
  constexpr std::chrono::seconds kPatience{20};
  const auto drain_for = [&](Clock::duration length, const auto& is_enough) {
    for (const Clock::time_point end = Clock::now() + length; Clock::now() < end && !is_enough(); drain())
      (*programs)->AwaitNews(kLook);
  };
  drain_for(kPatience, [&] { return bytes != 0; });
  drain_for(std::chrono::seconds(1), [] { return false; });
  const bool is_told = (*programs)->AwaitNews(kPatience);
  drain();
  std::printf("told at %zu bytes\n", bytes);
  return is_told ? bytes : 0;
}

// A record more or less, without the headers that the kernel gives each; and what comes until they are taken out.
void ExpectAQuarter(size_t bytes, size_t ring) {
  EXPECT_GE(bytes, ring / 5);
  EXPECT_LE(bytes, ring * 3 / 4);
}

TEST(Quiet, TheRingOfIntervalsTellsWhenItIsAQuarterFull) {
  RecordConfig config = OfASample();
  config.interval_ring_bytes = 256 << 10;
  ExpectAQuarter(BytesWhenTold(config, false), config.interval_ring_bytes);
}

TEST(Quiet, TheRingOfCapturesTellsWhenItIsAQuarterFull) {
  RecordConfig config = OfASample();
  config.capture_ring_bytes = 4 << 20;
  ExpectAQuarter(BytesWhenTold(config, true), config.capture_ring_bytes);
}

}  // namespace
}  // namespace offcpu::integration

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
#include "tests/deep/undrained.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

using Clock = std::chrono::steady_clock;

// The first looks are done, and the drainer has come to its longest period of the first five seconds.
constexpr std::chrono::milliseconds kFirst{1500};
// And to that of later on.
constexpr std::chrono::milliseconds kLater{6000};

struct WakeUps {
  double drains = 0;  // a second
  double turns = 0;   // of the worker, likewise
};

WakeUps Beside(pid_t pid, RecordConfig config, std::chrono::milliseconds settles) {
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

WakeUps BesideASleeper(const RecordConfig& config, std::chrono::milliseconds settles) {
  const std::unique_ptr<Program> sleeper = Program::Start({"sleep", "60"});
  EXPECT_NE(sleeper, nullptr);
  return sleeper == nullptr ? WakeUps() : Beside(sleeper->pid(), config, settles);
}

// Waits nearly 500 times a second; above 400 times too where each of its threads gets a CPU some milliseconds late.
std::unique_ptr<Target> StartNappers() {
  std::unique_ptr<Target> target = Target::Start({"nappers", "--threads", "10", "--nap-ms", "20", "--seconds", "60"});
  EXPECT_NE(target, nullptr);
  return target;
}

WakeUps BesideNappers(const RecordConfig& config) {
  const std::unique_ptr<Target> target = StartNappers();
  if (target == nullptr) return {};
  target->Go();
  return Beside(target->pid(), config, kLater);
}

// Looks at the rings every 40 ms: the sooner captures are walked, the fewer are needed. Turns every 200 ms.
TEST(Quiet, ItWakesUpRarelyFromTheBeginning) {
  const WakeUps wake_ups = BesideASleeper(RecordConfig(), kFirst);
  EXPECT_LE(wake_ups.drains, 28);
  EXPECT_LE(wake_ups.turns, 7);
}

// Looks every 160 ms: the rings tell when they fill.
TEST(Quiet, ItWakesUpMoreRarelyLaterOn) {
  const WakeUps wake_ups = BesideASleeper(RecordConfig(), kLater);
  EXPECT_LE(wake_ups.drains, 9);
  EXPECT_LE(wake_ups.turns, 7);
}

// Their stacks are known by then, and nearly all of them are added up.
TEST(Quiet, WaitsThatAreAddedUpAreTakenRarelyLaterOn) { EXPECT_LE(BesideNappers(RecordConfig()).drains, 9); }

// Each of them has a capture, of 5 KB: in 40 ms some 100 KB come, and in 80 ms too many.
TEST(Quiet, HundredsOfCapturesASecondAreTakenSooner) {
  RecordConfig config;
  config.proof_odds = 0;
  const double drains = BesideNappers(config).drains;
  EXPECT_GE(drains, 10);
  EXPECT_LE(drains, 28);
}

// A record for each of them, of 150 bytes: as many in 40 ms are few.
TEST(Quiet, AThousandWaitsASecondAreFew) {
  const std::unique_ptr<Target> target =
      Target::Start({"nappers", "--threads", "2", "--nap-ms", "2", "--seconds", "60"});
  ASSERT_NE(target, nullptr);
  target->Go();
  RecordConfig config;
  config.sums = false;
  EXPECT_LE(Beside(target->pid(), config, kFirst).drains, 40);
}

bool IsCapture(std::span<const std::byte> record) {
  uint32_t type = 0;
  if (record.size() >= sizeof(type)) std::memcpy(&type, record.data(), sizeof(type));
  return type == WIRE_CAPTURE;
}

// The bytes of captures, or of the rest, when a ring has told that it fills. 0: it did not.
size_t BytesWhenTold(RecordConfig config, bool of_captures) {
  const std::unique_ptr<Target> target = StartNappers();
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
  // Code that was not known is news as soon as it is seen.
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
  RecordConfig config;
  config.interval_ring_bytes = 256 << 10;
  ExpectAQuarter(BytesWhenTold(config, false), config.interval_ring_bytes);
}

TEST(Quiet, TheRingOfCapturesTellsWhenItIsAQuarterFull) {
  RecordConfig config;
  config.capture_ring_bytes = 4 << 20;
  ExpectAQuarter(BytesWhenTold(config, true), config.capture_ring_bytes);
}

}  // namespace
}  // namespace offcpu::integration

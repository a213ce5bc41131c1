// A budget that is far too small beside a load of nothing but context switches: short waits are sampled, they still
// stand for all of them, which the ledger counts, and every wait is recorded again when the load is over.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <thread>

#include "recorder/record_config.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

using Clock = std::chrono::steady_clock;

uint64_t Cpus() { return std::max(1u, std::thread::hardware_concurrency()); }

// 2 ms of CPU time a second, on any host: some thousand waits.
uint64_t BudgetPpm() { return std::max<uint64_t>(2'000 / Cpus(), 1); }

// The first second is not judged, and two seconds of the budget are saved up by then.
constexpr std::chrono::seconds kSamplesAfter{1};
constexpr std::chrono::seconds kPatience{60};
constexpr std::chrono::seconds kSampledFor{3};

template <typename Condition>
bool BecomesTrue(Condition condition) {
  const Clock::time_point end = Clock::now() + kPatience;
  while (!condition() && Clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return condition();
}

void ExpectCostIsTold(const NamedProfile& profile) {
  const ProfileStats& stats = profile.stats;
  const auto host_ns = static_cast<double>(profile.duration_ns * Cpus());
  EXPECT_EQ(stats.cpu_budget_ppm, BudgetPpm());
  EXPECT_GE(stats.sample_most_ns, 10'000u);
  EXPECT_LE(stats.sample_most_ns, 100'000'000u);
  EXPECT_GT(static_cast<double>(stats.own_programs_ns), static_cast<double>(BudgetPpm()) / 1e6 * host_ns)
      << "it was enough: no test";
  EXPECT_LT(static_cast<double>(stats.own_programs_ns + stats.capture_ns + stats.own_process_ns), host_ns);
  EXPECT_NEAR(static_cast<double>(stats.host_cpu_ns), host_ns, 0.25 * host_ns);
}

void ExpectSumsOfTheLedger(const NamedProfile& profile) {
  double ns = 0;
  double variance = 0;
  for (const ProfileRow& row : profile.rows) {
    ns += static_cast<double>(row.total_ns());
    variance += row.ns_variance;
  }
  LedgerEntry all;
  for (const LedgerEntry& entry : profile.ledger) AddTimes(entry, all);
  const auto exact_ns = static_cast<double>(all.blocked_ns + all.runnable_ns);
  const double error_ns = std::sqrt(variance);
  std::printf("%.3f s off a CPU, standard error %.3f s; the ledger has %.3f s; recorded: %" PRIu64
              ", left out: %" PRIu64 "\n",
              ns / 1e9, error_ns / 1e9, exact_ns / 1e9, profile.stats.intervals, profile.stats.not_sampled);
  EXPECT_GT(profile.stats.not_sampled, 1'000u);
  EXPECT_GT(error_ns, 0);
  // Once in 15,000 runs a right estimate is farther off.
  EXPECT_LT(std::abs(ns - exact_ns), 4 * error_ns + 0.001 * exact_ns);
}

RecordConfig ConfigFor(const Target& target) {
  RecordConfig config;
  config.adapts_sample = true;
  config.cpu_budget_ppm = BudgetPpm();
  config.pids = {target.pid(), target.Detail("pong")};
  return config;
}

TEST(CpuBudget, IsKeptBySamplesThatStandForAll) {
  const std::unique_ptr<Target> target = Target::Start({"pingpong", "--seconds", "120"});
  ASSERT_NE(target, nullptr);
  RecordConfig config = ConfigFor(*target);
  config.ledger = true;
  const absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(config);
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  const Clock::time_point begin = Clock::now();
  target->Go();
  EXPECT_TRUE(BecomesTrue([&] { return (*recorder)->progress().threshold_ns != 0; }));
  EXPECT_GT(Clock::now() - begin, kSamplesAfter) << "unwind tables are read at first";
  EXPECT_TRUE((*recorder)->progress().adapts_sample);
  std::this_thread::sleep_for(kSampledFor);
  const Recording recording = MustStop(**recorder);
  ExpectCostIsTold(recording.profile);
  ExpectSumsOfTheLedger(recording.profile);
}

TEST(CpuBudget, EveryWaitIsRecordedAgainWhenTheLoadIsOver) {
  std::unique_ptr<Target> target = Target::Start({"pingpong", "--seconds", "120"});
  ASSERT_NE(target, nullptr);
  const absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(ConfigFor(*target));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  target->Go();
  const auto threshold_ns = [&] { return (*recorder)->progress().threshold_ns; };
  EXPECT_TRUE(BecomesTrue([&] { return threshold_ns() != 0; }));
  target.reset();
  EXPECT_TRUE(BecomesTrue([&] { return threshold_ns() == 0; })) << threshold_ns();
}

}  // namespace
}  // namespace offcpu::integration

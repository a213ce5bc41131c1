// A budget that is far too small beside a load of nothing but context switches: fewer waits are drawn, and they still
// stand for all of them, which the ledger counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <thread>

#include "recorder/record_config.h"
#include "symbolize/symbolizer.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kBudgetPpm = 100;

// The first look, after a second, is not judged; the second halves the draws. The draws of a second are counted before
// that.
constexpr std::chrono::milliseconds kLowersAfter{1950};
constexpr std::chrono::seconds kLowersWithin{14};
constexpr std::chrono::milliseconds kRateOver{1000};
constexpr std::chrono::milliseconds kSettles{700};  // T finds its place

double Seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

// Intervals a second.
double RateOf(const Recorder& recorder) {
  const Clock::time_point begin = Clock::now();
  const uint64_t before = recorder.progress().intervals;
  std::this_thread::sleep_for(kRateOver);
  const uint64_t intervals = recorder.progress().intervals - before;
  return static_cast<double>(intervals) / Seconds(Clock::now() - begin);
}

void ExpectCostIsTold(const NamedProfile& profile) {
  const ProfileStats& stats = profile.stats;
  const auto host_ns = static_cast<double>(profile.duration_ns) * std::max(1u, std::thread::hardware_concurrency());
  EXPECT_EQ(stats.cpu_budget_ppm, kBudgetPpm);
  EXPECT_GT(stats.draws_lowered_to, 0u);
  EXPECT_LE(stats.draws_lowered_to, kDrawsPerCpuAlways / 4);
  EXPECT_GT(static_cast<double>(stats.own_programs_ns), kBudgetPpm / 1e6 * host_ns) << "it was enough: no test";
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
  std::printf("%.3f s off a CPU, standard error %.3f s; the ledger has %.3f s; drawn: %" PRIu64 ", not drawn: %" PRIu64
              "\n",
              ns / 1e9, std::sqrt(variance) / 1e9, exact_ns / 1e9, profile.stats.intervals, profile.stats.not_drawn);
  // Once in 15,000 runs a right estimate is farther off.
  EXPECT_LT(std::abs(ns - exact_ns), 4 * std::sqrt(variance) + 0.001 * exact_ns);
  // It is 1/sqrt(n) of the time if all n that are drawn stand for equal times. Those of the end stand for longer ones.
  const auto drawn = static_cast<double>(profile.stats.intervals);
  EXPECT_GT(drawn, 100) << "too little is drawn";
  EXPECT_LT(std::sqrt(variance), 2 * exact_ns / std::sqrt(drawn));
}

TEST(CpuBudget, IsKeptByFewerDrawsThatStandForAll) {
  const std::unique_ptr<Target> target = Target::Start({"pingpong", "--seconds", "60"});
  ASSERT_NE(target, nullptr);
  RecordConfig config;
  AdaptSample(kDrawsPerCpuAlways, config);
  config.pids = {target->pid(), target->Detail("pong")};
  config.ledger = true;
  config.cpu_budget_ppm = kBudgetPpm;
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(config);
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  const Clock::time_point begin = Clock::now();
  target->Go();

  std::this_thread::sleep_for(kSettles);
  const double rate_before = RateOf(**recorder);
  const RecorderProgress before = (*recorder)->progress();
  if (Clock::now() - begin < kLowersAfter) {
    EXPECT_EQ(before.draws_per_cpu, kDrawsPerCpuAlways);
  }
  EXPECT_EQ(before.draws_per_cpu_most, kDrawsPerCpuAlways);
  while ((*recorder)->progress().draws_per_cpu > kDrawsPerCpuAlways / 4 && Clock::now() - begin < kLowersWithin)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_GT(Seconds(Clock::now() - begin), 2) << "unwind tables are read at first";
  EXPECT_LE((*recorder)->progress().draws_per_cpu, kDrawsPerCpuAlways / 4);
  const double rate_after = RateOf(**recorder);
  absl::StatusOr<Profile> profile = (*recorder)->Stop();
  ASSERT_TRUE(profile.ok()) << profile.status();

  std::printf("%.0f draws a second, then %.0f\n", rate_before, rate_after);
  ASSERT_GT(rate_before, 100) << "hardly any load: no test";
  EXPECT_LT(rate_after, 0.75 * rate_before);
  EXPECT_GT(rate_after, 0);

  const NamedProfile named = Symbolize(*std::move(profile));
  ExpectCostIsTold(named);
  ExpectSumsOfTheLedger(named);
}

}  // namespace
}  // namespace offcpu::integration

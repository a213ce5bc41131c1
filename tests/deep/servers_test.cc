// Servers under load with all that a recording can do at once: every switch that the kernel counts of a thread is an
// interval of the profile or a counted loss, the ledger closes, and samples are what the threads were charged.
#include <gtest/gtest.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "tests/harness/load.h"
#include "tests/harness/real_program.h"

namespace offcpu::integration {
namespace {

constexpr std::chrono::seconds kLength{10};

// How often a thread has left a CPU, as the kernel counts it; nothing if it has ended.
std::optional<uint64_t> SwitchesOf(pid_t pid, pid_t tid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/status");
  uint64_t switches = 0;
  int found = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.find("voluntary_ctxt_switches:") == std::string::npos) continue;
    switches += std::stoull(line.substr(line.find(':') + 1));
    ++found;
  }
  if (found != 2) return std::nullopt;
  return switches;
}

std::map<std::pair<pid_t, pid_t>, uint64_t> SwitchesOf(const std::vector<pid_t>& pids) {
  std::map<std::pair<pid_t, pid_t>, uint64_t> switches;
  for (const pid_t pid : pids) {
    for (const pid_t tid : Threads(pid)) {
      if (const std::optional<uint64_t> count = SwitchesOf(pid, tid)) switches[{pid, tid}] = *count;
    }
  }
  return switches;
}

RecordConfig Everything(std::vector<pid_t> pids) {
  RecordConfig config;  // with its budgets, as it is left on
  config.pids = std::move(pids);
  config.follow_forks = true;
  config.per_thread = true;
  config.ledger = true;
  config.oncpu_hz = 99;
  config.wakers = true;
  return config;
}

uint64_t CountOf(const Profile& profile, std::initializer_list<std::string_view> reasons) {
  uint64_t count = 0;
  for (const Loss& loss : profile.stats.losses) {
    if (std::find(reasons.begin(), reasons.end(), loss.reason) != reasons.end()) count += loss.count;
  }
  return count;
}

void ExpectAllAccountedFor(const Load& load) {
  load.Freeze();
  const std::vector<pid_t> pids = load.Processes();
  const auto before = SwitchesOf(pids);
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(Everything(pids));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  load.Thaw();
  std::this_thread::sleep_for(kLength);
  load.Freeze();
  absl::StatusOr<Profile> profile = (*recorder)->Stop();
  ASSERT_TRUE(profile.ok()) << profile.status();

  // Only for threads that have lived throughout. They were stopped at both ends: each time that one left a CPU it has
  // come back, but for the last, and before the first it was away.
  std::map<pid_t, uint64_t> intervals;
  for (const ProfileRow& row : profile->rows) {
    if (row.kind != WaitKind::kOpen) intervals[row.tid] += row.count;
  }
  uint64_t switches = 0;
  uint64_t recorded = 0;
  size_t threads = 0;
  for (const auto& [thread, count] : before) {
    const std::optional<uint64_t> after = SwitchesOf(thread.first, thread.second);
    if (!after.has_value()) continue;
    ++threads;
    switches += *after - count;
    recorded += intervals[thread.second];
  }
  const uint64_t lost = CountOf(*profile, {"interval ring full", "interval ring busy", "queue full: intervals",
                                           "no task storage", "selected while off the CPU"});
  std::printf("%zu threads, %" PRIu64 " switches by the kernel's count: %" PRIu64 " intervals, %" PRIu64 " lost\n",
              threads, switches, recorded, lost);
  ASSERT_GE(switches, 10'000u) << "hardly any load: no test";
  EXPECT_LE(recorded, switches + threads);
  EXPECT_GE(recorded + lost + threads, switches);

  LedgerEntry sum;
  for (const LedgerEntry& entry : profile->ledger) AddTimes(entry, sum);
  uint64_t cpu_ns = 0;
  uint64_t with_stack = 0;
  uint64_t samples_with_stack = 0;
  uint64_t off_ns = 0;
  for (const ProfileRow& row : profile->rows) {
    const bool has_stack = profile->user_stacks[row.user_stack].missing == NoUserStack::kNone;
    cpu_ns += row.cpu_ns;
    off_ns += row.total_ns();
    if (has_stack) with_stack += row.total_ns();
    if (has_stack) samples_with_stack += row.cpu_ns;
  }
  const uint64_t not_sampled_ns = [&] {
    uint64_t ns = 0;
    for (const Loss& loss : profile->stats.losses) {
      if (loss.reason.starts_with("on-CPU sample")) ns += loss.ns;
    }
    return ns;
  }();
  const auto percent = [](auto part, auto whole) {
    return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  };
  std::printf(
      "ledger: rest %.4f %%; samples %.1f %% of the %.2f s on a CPU, %.3f s missed; with a user stack: %.1f %% of the "
      "waiting, %.1f %% of the samples\n",
      percent(sum.rest_ns(), sum.wall_ns), percent(cpu_ns, sum.on_cpu_ns), static_cast<double>(sum.on_cpu_ns) / 1e9,
      static_cast<double>(not_sampled_ns) / 1e9, percent(with_stack, off_ns), percent(samples_with_stack, cpu_ns));
  for (const Loss& loss : profile->stats.losses) {
    std::printf("  %-40s %8" PRIu64 "  %.3f ms\n", loss.reason.c_str(), loss.count, static_cast<double>(loss.ns) / 1e6);
  }
  EXPECT_LE(std::abs(percent(sum.rest_ns(), sum.wall_ns)), 0.2);
  // Samples are taken at random: five standard errors of n, beside those that were missed in any thread.
  const double periods = static_cast<double>(sum.on_cpu_ns) / static_cast<double>(profile->stats.oncpu_period_ns);
  const double allowed =
      5 / std::sqrt(periods) + static_cast<double>(not_sampled_ns) / static_cast<double>(sum.on_cpu_ns);
  EXPECT_NEAR(static_cast<double>(cpu_ns) / static_cast<double>(sum.on_cpu_ns), 1.0, allowed);
}

TEST(Servers, RedisUnderLoad) {
  if (!IsInstalled("redis-server") || !IsInstalled("redis-benchmark")) GTEST_SKIP() << "redis is not installed";
  const RedisLoad redis;
  ExpectAllAccountedFor(redis.load());
}

TEST(Servers, PostgresUnderLoad) {
  if (!PostgresLoad::IsInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  const PostgresLoad postgres;
  ASSERT_TRUE(postgres.is_ready());
  ExpectAllAccountedFor(postgres.load());
}

}  // namespace
}  // namespace offcpu::integration

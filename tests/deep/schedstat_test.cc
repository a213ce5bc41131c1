// Times are the kernel's own: of every thread of loads of many kinds, compared with its schedstat.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <thread>

#include "tests/harness/load.h"

namespace offcpu::integration {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLength{5};

uint64_t Ns(Clock::duration time) { return static_cast<uint64_t>(std::chrono::nanoseconds(time).count()); }

struct ThreadTimes {
  double blocked_ns = 0;
  double runnable_ns = 0;
};

struct Recorded {
  Profile profile;
  uint64_t wall_ns = 0;
  uint64_t stolen_ns = 0;
  std::map<pid_t, ThreadTimes> wanted;  // by tid, of threads that have lived throughout
};

// Nothing of the load runs when the recording begins and when it ends: what the kernel counts of a thread is complete
// only then.
Recorded RecordLoad(const Load& load) {
  Recorded recorded;
  load.Freeze();
  const std::vector<SchedStatFile> files = OpenSchedStats(load.Processes());
  std::vector<std::optional<SchedStat>> before;
  before.reserve(files.size());
  for (const SchedStatFile& file : files) before.push_back(file.Read());
  RecordConfig config;
  config.pids = load.Processes();
  config.per_thread = true;
  config.queue_bytes = 1u << 30;  // a ping-pong may be faster than the worker for all of the recording
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(config);
  EXPECT_TRUE(recorder.ok()) << recorder.status();
  if (!recorder.ok()) return recorded;
  const auto start = Clock::now();
  const uint64_t stolen_ns = StolenNs();
  load.Thaw();
  std::this_thread::sleep_until(start + kLength);
  load.Freeze();
  recorded.stolen_ns = StolenNs() - stolen_ns;
  const uint64_t thawed_ns = Ns(Clock::now() - start);
  absl::StatusOr<Profile> profile = (*recorder)->Stop();
  EXPECT_TRUE(profile.ok()) << profile.status();
  if (!profile.ok()) return recorded;
  recorded.profile = *std::move(profile);
  // The threads are frozen in what it has recorded besides, however long a pause of this test made that.
  recorded.wall_ns = recorded.profile.duration_ns;
  EXPECT_GE(recorded.wall_ns, thawed_ns);
  for (size_t i = 0; i < files.size(); ++i) {
    const std::optional<SchedStat> after = files[i].Read();
    if (!before[i].has_value() || !after.has_value()) continue;
    const auto cpu_ns = static_cast<double>(after->cpu_ns - before[i]->cpu_ns);
    const auto runnable_ns = static_cast<double>(after->run_delay_ns - before[i]->run_delay_ns);
    recorded.wanted[files[i].tid()] = {.blocked_ns = static_cast<double>(recorded.wall_ns) - cpu_ns - runnable_ns,
                                       .runnable_ns = runnable_ns};
  }
  return recorded;
}

std::map<pid_t, ThreadTimes> TimesByThread(const Profile& profile) {
  std::map<pid_t, ThreadTimes> times;
  for (const ProfileRow& row : profile.rows) {
    times[row.tid].blocked_ns += static_cast<double>(row.blocked_ns);
    times[row.tid].runnable_ns += static_cast<double>(row.runnable_ns);
  }
  return times;
}

// Whole intervals that were lost on their way, with their times.
void ExpectNothingLost(const Profile& profile) {
  for (const Loss& loss : profile.stats.losses) {
    for (const char* reason :
         {"interval ring full", "interval ring busy", "queue full: intervals", "no task storage", "row table full"}) {
      EXPECT_NE(loss.reason, reason) << loss.count << " of " << profile.stats.intervals << " intervals, "
                                     << static_cast<double>(loss.ns) / 1e6 << " ms";
    }
  }
}

// Prints the worst thread, and fails if there is one outside of the bounds, which are milliseconds.
void ExpectWithin(const char* what, const std::vector<double>& deviations_ms, double least, double most,
                  double wall_ms) {
  const auto [low, high] = std::minmax_element(deviations_ms.begin(), deviations_ms.end());
  std::printf("  %s: %+.3f ms to %+.3f ms, %.4f %% of the time\n", what, *low, *high,
              100 * std::max(std::abs(*low), std::abs(*high)) / wall_ms);
  EXPECT_EQ(std::count_if(deviations_ms.begin(), deviations_ms.end(),
                          [=](double deviation) { return deviation < least || deviation > most; }),
            0)
      << "threads whose time " << what << " is outside of " << least << " to " << most << " ms of the kernel's";
}

void ExpectAgreement(const Load& load) {
  const Recorded recorded = RecordLoad(load);
  ASSERT_FALSE(recorded.wanted.empty());
  std::map<pid_t, ThreadTimes> times = TimesByThread(recorded.profile);
  std::vector<double> blocked_ms;
  std::vector<double> runnable_ms;
  for (const auto& [tid, wanted] : recorded.wanted) {
    blocked_ms.push_back((times[tid].blocked_ns - wanted.blocked_ns) / 1e6);
    runnable_ms.push_back((times[tid].runnable_ns - wanted.runnable_ns) / 1e6);
  }
  const double wall_ms = static_cast<double>(recorded.wall_ns) / 1e6;
  const double stolen_ms = static_cast<double>(recorded.stolen_ns) / 1e6;
  const double allowed_ms = std::max(wall_ms * 0.005, 1.0);
  std::printf("%zu threads, %llu intervals in %.0f ms, of which %.0f ms were stolen\n", recorded.wanted.size(),
              static_cast<unsigned long long>(recorded.profile.stats.intervals), wall_ms, stolen_ms);
  ExpectWithin("runnable", runnable_ms, -allowed_ms, allowed_ms, wall_ms);
  // What was stolen from a thread on its CPU is neither CPU time nor waiting, and the kernel does not say from whom.
  ExpectWithin("blocked", blocked_ms, -allowed_ms - stolen_ms, allowed_ms, wall_ms);
  ExpectNothingLost(recorded.profile);
}

TEST(SchedStat, OfTwoProcessesThatWakeEachOtherOnOneCpu) {
  Load load;
  load.Add({BinDirectory() + "/targets/pingpong", "--seconds", "3600"});
  load.AwaitThreads(2);
  ExpectAgreement(load);
}

TEST(SchedStat, OfStressors) {
  if (!IsInstalled("stress-ng")) GTEST_SKIP() << "stress-ng is not installed";
  const TemporaryDirectory directory;
  Load load;
  load.Add({"stress-ng",   "--temp-path", directory.path(),
            "--cpu",       "2",           "--switch",
            "2",           "--futex",     "2",
            "--pipe",      "2",           "--yield",
            "2",           "--hdd",       "1",
            "--hdd-bytes", "16M",         "--sleep",
            "1",           "--sleep-max", "32"});
  load.AwaitThreads(1 + 5 * 2 + 1 + 1 + 32);
  ExpectAgreement(load);
}

TEST(SchedStat, OfHackbenchWithProcesses) {
  if (!IsInstalled("hackbench")) GTEST_SKIP() << "hackbench is not installed";
  Load load;
  load.Add({"hackbench", "-P", "-l", "1000000"});
  load.AwaitThreads(400);
  ExpectAgreement(load);
}

TEST(SchedStat, OfHackbenchWithThreads) {
  if (!IsInstalled("hackbench")) GTEST_SKIP() << "hackbench is not installed";
  Load load;
  load.Add({"hackbench", "-T", "-l", "1000000"});
  load.AwaitThreads(400);
  ExpectAgreement(load);
}

TEST(SchedStat, OfMessaging) {
  if (!IsInstalled("perf")) GTEST_SKIP() << "perf is not installed";
  Load load;
  load.Add({"perf", "bench", "sched", "messaging", "--pipe", "--group", "2", "--nr_loops", "100000000"});
  load.AwaitThreads(80);
  ExpectAgreement(load);
}

TEST(SchedStat, OfPostgres) {
  if (!PostgresLoad::IsInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  const PostgresLoad postgres;
  ASSERT_TRUE(postgres.is_ready());
  ExpectAgreement(postgres.load());
}

}  // namespace
}  // namespace offcpu::integration

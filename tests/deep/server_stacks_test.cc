// As offcpu records by default, nearly all time that busy servers wait has its user stack, also on a saturated host.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "recorder/record_config.h"
#include "tests/deep/tries.h"
#include "tests/harness/load.h"

namespace offcpu::integration {
namespace {

constexpr std::chrono::seconds kLength{5};

// Records the whole host, with the rings of `offcpu record`, from `warm_up` on.
Recording RecordByDefault(std::chrono::seconds warm_up) {
  RecordConfig config;
  config.adapts_sample = true;
  FitRings(std::max(1u, std::thread::hardware_concurrency()), config);
  const absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(config);
  EXPECT_TRUE(recorder.ok()) << recorder.status();
  if (!recorder.ok()) return {};
  std::this_thread::sleep_for(warm_up);
  if (warm_up.count() != 0) {
    const absl::StatusOr<Profile> first = (*recorder)->Cut();
    EXPECT_TRUE(first.ok()) << first.status();
  }
  std::this_thread::sleep_for(kLength);
  return MustStop(**recorder);
}

// Where their waits go.
struct Times {
  uint64_t waits = 0;
  uint64_t all_ns = 0;
  uint64_t without_ns = 0;
  uint64_t over_ns = 0;  // went on at the end, and was over before its stack was read: in neither of the others
};

Times TimesOf(const std::vector<pid_t>& pids, const Recording& recording) {
  Times times;
  for (const StackRow& row : recording.Rows(
           [&](const StackRow& r) { return std::find(pids.begin(), pids.end(), r.process->key.pid) != pids.end(); })) {
    const bool is_over = row.row->kind == WaitKind::kOpen && row.user->missing == NoUserStack::kStale;
    times.waits += row.row->count;
    (is_over ? times.over_ns : times.all_ns) += row.row->total_ns();
    if (!is_over && row.user->missing != NoUserStack::kNone) times.without_ns += row.row->total_ns();
  }
  return times;
}

void ExpectNearlyAllHasStacks(const std::vector<pid_t>& pids, std::chrono::seconds warm_up = {}) {
  Recording recording;
  Times times;
  // Now and then redis has a CPU for each busy thread, and hardly any wait.
  EXPECT_TRUE(HoldsInOneOf(5, [&] {
    recording = RecordByDefault(warm_up);
    times = TimesOf(pids, recording);
    return times.waits > 10'000;
  })) << "hardly any load: no test";
  const double percent = 100 * static_cast<double>(times.without_ns) / static_cast<double>(times.all_ns);
  std::printf("%" PRIu64 " waits, %.3f s, %.3f %% of it without a user stack, and %.3f s that were over at the end\n%s",
              times.waits, static_cast<double>(times.all_ns) / 1e9, percent, static_cast<double>(times.over_ns) / 1e9,
              recording.LossesText().c_str());
  EXPECT_LE(percent, 0.5);
}

TEST(ServerStacks, OfPostgres) {
  if (!PostgresLoad::IsInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  const PostgresLoad postgres;
  ASSERT_TRUE(postgres.is_ready());
  ExpectNearlyAllHasStacks(postgres.load().Processes());
}

TEST(ServerStacks, OfContendedPostgres) {
  if (!PostgresLoad::IsInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  const PostgresLoad postgres(PostgresLoad::kContended);
  ASSERT_TRUE(postgres.is_ready());
  ExpectNearlyAllHasStacks(postgres.load().Processes());
}

TEST(ServerStacks, OfRedis) {
  if (!IsInstalled("redis-server") || !IsInstalled("redis-benchmark")) GTEST_SKIP() << "redis is not installed";
  const RedisLoad redis;
  ExpectNearlyAllHasStacks(redis.load().Processes());
}

// Dozens of threads want each CPU, and so the recorder would have its turn as seldom as they do. In the first seconds
// more stacks are new there than may be copied.
TEST(ServerStacks, OfASaturatedHost) {
  if (!IsInstalled("stress-ng")) GTEST_SKIP() << "stress-ng is not installed";
  Load hogs;
  const unsigned int cpus = std::max(1u, std::thread::hardware_concurrency());
  hogs.Add({"stress-ng", "--cpu", std::to_string(12 * cpus), "--temp-path", "/tmp"});
  hogs.AwaitThreads(12 * cpus);
  const std::unique_ptr<Target> target = Target::Start({"nappers", "--threads", "60", "--nap-ms", "1.1"});
  ASSERT_NE(target, nullptr);
  target->Go();
  target->AwaitDone();
  std::vector<pid_t> pids = hogs.Processes();
  pids.push_back(target->pid());
  ExpectNearlyAllHasStacks(pids, std::chrono::seconds(3));
}

}  // namespace
}  // namespace offcpu::integration

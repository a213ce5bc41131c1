// A sample whose bound follows the load: on hosts that wait a lot, whatever is drawn has its stack, sums are what the
// ledger says, which counts every wait, and neither a noisy process nor a crowd of new ones takes the stacks of others.
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <thread>

#include "recorder/record_config.h"
#include "symbolize/symbolizer.h"
#include "tests/deep/tries.h"
#include "tests/harness/load.h"

namespace offcpu::integration {
namespace {

constexpr std::chrono::seconds kLength{5};

RecordConfig Adaptive(std::vector<pid_t> pids) {
  RecordConfig config;
  AdaptSample(kDrawsPerCpuAlways, config);
  config.pids = std::move(pids);
  config.follow_forks = true;
  return config;
}

Recording RecordFor(const RecordConfig& config, std::chrono::seconds length) {
  Recording recording;
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(config);
  EXPECT_TRUE(recorder.ok()) << recorder.status();
  if (!recorder.ok()) return recording;
  std::this_thread::sleep_for(length);
  absl::StatusOr<Profile> profile = (*recorder)->Stop();
  EXPECT_TRUE(profile.ok()) << profile.status();
  if (!profile.ok()) return recording;
  recording.profile = Symbolize(*std::move(profile));
  return recording;
}

bool IsWait(const ProfileRow& row) { return row.kind != WaitKind::kRunning && row.kind != WaitKind::kOpen; }

struct Sums {
  uint64_t drawn = 0;  // intervals received
  double ns = 0;       // off a CPU, with open waits
  double variance = 0;
  double missing_ns[kNoUserStackCount] = {};

  double share(NoUserStack reason) const { return missing_ns[static_cast<size_t>(reason)] / ns; }
};

// Time of these processes; none: of all.
Sums SumsOf(const Recording& recording, const std::vector<pid_t>& pids = {}) {
  Sums sums = {.drawn = recording.profile.stats.intervals};
  for (const ProfileRow& row : recording.profile.rows) {
    const pid_t pid = recording.profile.processes[row.process].key.pid;
    if (!pids.empty() && std::find(pids.begin(), pids.end(), pid) == pids.end()) continue;
    const auto ns = static_cast<double>(row.total_ns());
    sums.ns += ns;
    sums.variance += row.ns_variance;
    sums.missing_ns[static_cast<size_t>(recording.profile.user_stacks[row.user_stack].missing)] += ns;
  }
  const ProfileStats& stats = recording.profile.stats;
  std::printf("%" PRIu64 " drawn, %" PRIu64 " not, T from %.3f to %.3f ms; %.3f s off a CPU, standard error %.3f s\n",
              sums.drawn, stats.not_drawn, static_cast<double>(stats.sample_ns) / 1e6,
              static_cast<double>(stats.sample_most_ns) / 1e6, sums.ns / 1e9, std::sqrt(sums.variance) / 1e9);
  std::printf("%s", recording.DropsText().c_str());
  return sums;
}

void ExpectWhatIsDrawnHasItsStack(const Sums& sums) {
  EXPECT_EQ(sums.missing_ns[static_cast<size_t>(NoUserStack::kBudget)], 0);
  EXPECT_EQ(sums.missing_ns[static_cast<size_t>(NoUserStack::kNoBuffer)], 0);
  EXPECT_EQ(sums.missing_ns[static_cast<size_t>(NoUserStack::kRingFull)], 0);
}

// Some thousand waits a second of three dozen processes.
TEST(Draws, OfPostgresUnderLoadHaveTheirStacks) {
  if (!PostgresLoad::IsInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  const PostgresLoad postgres;
  ASSERT_TRUE(postgres.is_ready());
  RecordConfig config = Adaptive(postgres.load().Processes());
  config.ledger = true;
  const Recording recording = RecordFor(config, kLength);
  const Sums sums = SumsOf(recording);
  ExpectWhatIsDrawnHasItsStack(sums);
  ASSERT_GT(recording.profile.stats.not_drawn, 10'000u) << "hardly any load: no test";
  // Half as much again as is asked for, while T finds its place.
  const double seconds = static_cast<double>(recording.profile.duration_ns) / 1e9;
  EXPECT_LT(static_cast<double>(sums.drawn), 1.5 * config.draws_per_second * seconds);
  LedgerEntry all;
  for (const LedgerEntry& entry : recording.profile.ledger) AddTimes(entry, all);
  const auto exact_ns = static_cast<double>(all.blocked_ns + all.runnable_ns);
  std::printf("the ledger has %.3f s\n", exact_ns / 1e9);
  // Once in 15,000 runs a right estimate is farther off.
  EXPECT_LT(std::abs(sums.ns - exact_ns), 4 * std::sqrt(sums.variance) + 0.001 * exact_ns);
  EXPECT_LT(std::sqrt(sums.variance), 0.05 * exact_ns) << "too little is drawn";
}

// By the recorder's default, which is of the whole host. Now and then redis has a CPU for each busy thread, and hardly
// any wait.
Recording RecordLoad() {
  Recording recording;
  const auto is_loaded = [&] {
    recording = RecordFor(Adaptive({}), kLength);
    return recording.profile.stats.not_drawn > 1'000;
  };
  EXPECT_TRUE(HoldsInOneOf(5, is_loaded)) << "hardly any load: no test";
  return recording;
}

// A wait that goes on at the end has no stack if it is over before it is read. One of them may be longer than all that
// may be without.
void ExpectNearlyAllHasStacks(const Load& load) {
  const std::vector<pid_t> pids = load.Processes();
  const Recording recording = RecordLoad();
  uint64_t all_ns = 0;
  uint64_t without_ns = 0;
  uint64_t over_ns = 0;
  for (const StackRow& row : recording.Rows(
           [&](const StackRow& r) { return std::find(pids.begin(), pids.end(), r.process->key.pid) != pids.end(); })) {
    const bool is_over = row.row->kind == WaitKind::kOpen && row.user->missing == NoUserStack::kStale;
    (is_over ? over_ns : all_ns) += row.row->total_ns();
    if (!is_over && row.user->missing != NoUserStack::kNone) without_ns += row.row->total_ns();
  }
  const double percent = 100 * static_cast<double>(without_ns) / static_cast<double>(all_ns);
  std::printf("%.3f s off a CPU, %.3f %% of it without a user stack, and %.3f s that were over at the end\n%s",
              static_cast<double>(all_ns) / 1e9, percent, static_cast<double>(over_ns) / 1e9,
              recording.DropsText().c_str());
  EXPECT_LE(percent, 0.5);
}

TEST(Draws, LeaveNothingOfPostgresWithoutStacks) {
  if (!PostgresLoad::IsInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  const PostgresLoad postgres;
  ASSERT_TRUE(postgres.is_ready());
  ExpectNearlyAllHasStacks(postgres.load());
}

TEST(Draws, LeaveNothingOfContendedPostgresWithoutStacks) {
  if (!PostgresLoad::IsInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  const PostgresLoad postgres(PostgresLoad::kContended);
  ASSERT_TRUE(postgres.is_ready());
  ExpectNearlyAllHasStacks(postgres.load());
}

TEST(Draws, LeaveNothingOfRedisWithoutStacks) {
  if (!IsInstalled("redis-server") || !IsInstalled("redis-benchmark")) GTEST_SKIP() << "redis is not installed";
  const RedisLoad redis;
  ExpectNearlyAllHasStacks(redis.load());
}

// Dozens of threads want each CPU, and so the recorder has its turn as seldom as they do. With the rings of
// `offcpu record`.
TEST(Draws, OfASaturatedHostHaveTheirStacks) {
  if (!IsInstalled("stress-ng")) GTEST_SKIP() << "stress-ng is not installed";
  Load hogs;
  const unsigned int cpus = std::max(1u, std::thread::hardware_concurrency());
  hogs.Add({"stress-ng", "--cpu", std::to_string(12 * cpus), "--temp-path", "/tmp"});
  hogs.AwaitThreads(12 * cpus);
  const std::unique_ptr<Target> target = Target::Start({"nappers", "--threads", "60", "--nap-ms", "1.1"});
  ASSERT_NE(target, nullptr);
  target->Go();
  target->AwaitDone();
  RecordConfig config;
  AdaptSample(kDrawsPerCpuOnce, config);
  FitRings(cpus, config);
  std::vector<pid_t> pids = hogs.Processes();
  pids.push_back(target->pid());
  const Sums sums = SumsOf(RecordFor(config, kLength), pids);
  ExpectWhatIsDrawnHasItsStack(sums);
  EXPECT_EQ(sums.missing_ns[static_cast<size_t>(NoUserStack::kTargetStuck)], 0) << "no read hangs";
  EXPECT_GT(sums.drawn, 200u) << "hardly anything is drawn: no test";
}

// 50,000 waits a second beside five.
TEST(Draws, OfAQuietProcessAreAllOfItsWaits) {
  const std::unique_ptr<Target> noisy = Target::Start({"nappers", "--threads", "60", "--nap-ms", "1.1"});
  const std::unique_ptr<Target> quiet = Target::Start({"nappers", "--threads", "1", "--nap-ms", "200"});
  ASSERT_TRUE(noisy != nullptr && quiet != nullptr);
  for (const auto& target : {noisy.get(), quiet.get()}) target->Go();
  for (const auto& target : {noisy.get(), quiet.get()}) target->AwaitDone();
  RecordConfig config = Adaptive({noisy->pid(), quiet->pid()});
  config.per_thread = true;
  const uint64_t stolen_before_ns = StolenNs();
  const Recording recording = RecordFor(config, kLength);
  const uint64_t stolen_ns = StolenNs() - stolen_before_ns;
  const Sums sums = SumsOf(recording);
  ExpectWhatIsDrawnHasItsStack(sums);
  ASSERT_GT(recording.profile.stats.sample_most_ns, 2'000'000u) << "it makes no noise: no test";
  uint64_t naps = 0;
  uint64_t with_stack = 0;
  uint64_t off_cpu_ns = 0;
  // Its first thread sleeps throughout.
  for (const StackRow& row : recording.Rows(
           [&](const StackRow& r) { return r.process->key.pid == quiet->pid() && r.row->tid != quiet->pid(); })) {
    off_cpu_ns += row.row->total_ns();
    if (!IsWait(*row.row) || row.row->kind != WaitKind::kSleeping) continue;
    EXPECT_EQ(row.row->count_variance, 0) << "not all are recorded: " << row.Text();
    naps += row.row->count;
    if (row.complete()) with_stack += row.row->count;
  }
  std::printf("%" PRIu64 " naps; %.3f s off a CPU of %.3f s\n", naps, static_cast<double>(off_cpu_ns) / 1e9,
              static_cast<double>(recording.profile.duration_ns) / 1e9);
  EXPECT_GE(naps, 5u);
  EXPECT_TRUE(Within(off_cpu_ns, recording.profile.duration_ns, 0.02, stolen_ns)) << "a nap is 4 % of it";
  EXPECT_EQ(with_stack, naps) << recording.DropsText();
}

// The same in one process: waits of a fifth of a second are longer than what T comes to.
TEST(Draws, OfASlowThreadAmongNoisyOnesAreAllOfItsLongWaits) {
  const std::unique_ptr<Target> target =
      Target::Start({"nappers", "--threads", "60", "--nap-ms", "1.1", "--slow-ms", "1200"});
  ASSERT_NE(target, nullptr);
  target->Go();
  target->AwaitDone();
  const Recording recording = RecordFor(Adaptive({target->pid()}), kLength);
  const Sums sums = SumsOf(recording);
  ExpectWhatIsDrawnHasItsStack(sums);
  const Measure slow = recording.Sum([](const StackRow& row) {
    return row.Has("NapSlowly") && row.complete() && row.row->kind == WaitKind::kSleeping;
  });
  EXPECT_GE(slow.count, 3u) << recording.DropsText();
}

bool IsNap(const ProfileRow& row) { return row.kind == WaitKind::kSleeping && row.syscall == SYS_clock_nanosleep; }

// One wait that was drawn with the probability p stands for 1 / p; the variance of that is (1 - p) / p^2.
double StandsFor(const ProfileRow& row) { return (1 + std::sqrt(1 + 4 * row.count_variance)) / 2; }

struct Naps {
  uint64_t drawn = 0;
  double heaviest = 0;  // how many naps one of them stands for
};

// Of processes that nap once: each nap that was drawn is a row.
Naps NapsOf(const Recording& recording, const std::string& comm) {
  Naps naps;
  for (const StackRow& row : recording.Rows([&](const StackRow& r) { return r.comm == comm && IsNap(*r.row); })) {
    ++naps.drawn;
    naps.heaviest = std::max(naps.heaviest, StandsFor(*row.row));
  }
  return naps;
}

// Each of them waits no more than a few times. So where T is much longer than what they do, it has begun like that.
TEST(Draws, OfNewProcessesAreFewerWhileThereIsACrowdOfThem) {
  constexpr uint64_t kLater = 20;
  RecordConfig config = Adaptive({});
  // Far fewer than the crowd's naps, and far more than those of one process after the other.
  const uint32_t cpus = std::max(1u, std::thread::hardware_concurrency());
  config.draws_per_second = std::max(1u, 32 / cpus) * cpus;
  config.cpu_budget_ppm = 1'000'000;
  const uint32_t crowded = 20 * config.draws_per_second;
  const std::unique_ptr<Target> target =
      Target::Start({"crowd", "--seconds", "2.5", "--least", std::to_string(crowded + 1), "--nap-ms", "5", "--later",
                     std::to_string(kLater)});
  ASSERT_NE(target, nullptr);
  config.pids = {target->pid()};
  const Recording recording = Record(config, *target);
  const Naps crowd = NapsOf(recording, "one");
  const uint64_t made = target->Value("made");
  std::printf("of %" PRIu64 " naps %" PRIu64 " were drawn, one of which stands for %.1f\n", made, crowd.drawn,
              crowd.heaviest);
  ASSERT_GT(made, crowded) << "hardly a crowd: no test";
  EXPECT_GT(crowd.heaviest, 4);
  EXPECT_LT(crowd.drawn, made * 3 / 4);
  // T has been halved for each of the first dozen.
  for (uint64_t i = 12; i < kLater; ++i) {
    const Naps later = NapsOf(recording, "later" + std::to_string(i));
    EXPECT_EQ(later.drawn, 1u) << i;
    EXPECT_EQ(later.heaviest, 1) << i;
  }
}

}  // namespace
}  // namespace offcpu::integration

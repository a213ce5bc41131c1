// User stacks that the BPF programs walk at switches: each is what the capture of the same stay says, in programs that
// wait in many ways, change their code, and go instruction by instruction; most waits need no capture then; and what is
// recorded is what captures alone record.
#include <gtest/gtest.h>

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "capture/kernel.h"
#include "tests/integration/harness.h"
#include "tests/integration/load.h"
#include "tests/integration/stepper.h"

namespace offcpu::integration {
namespace {

constexpr char kDiffers[] = "user stack walked wrongly";

bool CanWalk() {
  const absl::StatusOr<KernelFeatures> features = ProbeKernel();
  return features.ok() && features->can_defer() && features->vma_iter;
}

RecordConfig WithOdds(std::vector<pid_t> pids, uint32_t proof_odds) {
  RecordConfig config = Unthrottled(std::move(pids));
  config.proof_odds = proof_odds;
  return config;
}

void ExpectNoneWrong(const Recording& recording, uint64_t proven_at_least) {
  const ProfileStats& stats = recording.profile.stats;
  std::printf("%" PRIu64 " intervals, %" PRIu64 " captures, %" PRIu64 " walks proven\n", stats.intervals,
              stats.captures, stats.proven_walks);
  EXPECT_EQ(recording.FindDrop(kDiffers), nullptr) << recording.DropsText();
  EXPECT_GE(stats.proven_walks, proven_at_least) << "hardly any walk: no test";
}

// Each walk is proven by a capture.
class UserWalks : public testing::TestWithParam<std::vector<std::string>> {
 protected:
  void SetUp() override {
    if (!CanWalk()) GTEST_SKIP() << "this kernel cannot defer captures";
  }
};

TEST_P(UserWalks, AreAllAsTheirCaptures) {
  const std::unique_ptr<Target> target = Target::Start(GetParam());
  ASSERT_NE(target, nullptr);
  RecordConfig config = WithOdds({target->pid()}, 1);
  config.follow_forks = true;
  ExpectNoneWrong(Record(config, *target), 20);
}

std::string NameOf(const testing::TestParamInfo<std::vector<std::string>>& info) {
  std::string name = absl::StrJoin(info.param, "_");
  for (char& letter : name) letter = std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(, UserWalks,
                         testing::Values(std::vector<std::string>{"deep", "--seconds", "1"},
                                         std::vector<std::string>{"deep", "--big", "--seconds", "1"},
                                         std::vector<std::string>{"two_callers", "--rounds", "1000"},
                                         std::vector<std::string>{"waits", "--seconds", "1"},
                                         std::vector<std::string>{"waits", "--seconds", "1", "--fork-ms", "2"},
                                         std::vector<std::string>{"mix", "--lanes", "6"},
                                         std::vector<std::string>{"pingpong", "--seconds", "1"},
                                         std::vector<std::string>{"churn", "dlopen", "--rounds", "50"}),
                         NameOf);

// Programs that are preempted wherever they are, that fault, map and unmap, and that come and go.
TEST(UserWalk, OfABusyHostAreAllAsTheirCaptures) {
  if (!CanWalk()) GTEST_SKIP() << "this kernel cannot defer captures";
  if (!IsInstalled("stress-ng")) GTEST_SKIP() << "stress-ng is not installed";
  const TemporaryDirectory directory;
  Load load;
  load.Add({"stress-ng", "--temp-path", directory.path(),
            "--switch",  "1",           "--pipe",
            "1",         "--futex",     "1",
            "--poll",    "1",           "--timer",
            "1",         "--fault",     "1",
            "--sock",    "1",           "--sem",
            "1",         "--yield",     "1",
            "--mmap",    "1",           "--mmap-bytes",
            "16m",       "--qsort",     "1"});
  load.Add({BinDirectory() + "/targets/churn", "exec", "--rounds", "1000000", "--life-ms", "2"});
  load.AwaitThreads(12);
  const absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(WithOdds({}, 1));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  std::this_thread::sleep_for(std::chrono::seconds(3));
  ExpectNoneWrong(MustStop(**recorder), 1000);
}

// Every instruction is a wait, which the tracer ends.
TEST(UserWalk, OfEveryInstructionIsAsItsCapture) {
  if (!CanWalk()) GTEST_SKIP() << "this kernel cannot defer captures";
  const std::unique_ptr<Stepper> stepper = Stepper::Start({BinDirectory() + "/targets/stepped", "short"}, false);
  ASSERT_NE(stepper, nullptr);
  const absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(WithOdds({stepper->pid()}, 1));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  constexpr uint64_t kSteps = 60'000;
  while (stepper->steps() < kSteps && stepper->Step()) {
  }
  EXPECT_EQ(stepper->error(), "");
  ExpectNoneWrong(MustStop(**recorder), 200);
}

// In the first half second all stacks are new, and the budgets may refuse some of their captures. People record for
// longer than a few times that.
constexpr std::chrono::seconds kLength{10};

// All of its waits are recorded, with the usual budgets for captures.
void ExpectNearlyAllComplete(const Load& load) {
  RecordConfig config;
  config.pids = load.Processes();
  const absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(config);
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  std::this_thread::sleep_for(kLength);
  const Recording recording = MustStop(**recorder);
  const uint64_t all = recording.Sum([](const StackRow&) { return true; }).ns;
  const uint64_t complete = recording.Sum([](const StackRow& row) { return row.complete(); }).ns;
  const ProfileStats& stats = recording.profile.stats;
  std::printf("%" PRIu64 " intervals, %" PRIu64 " walked at switches, %" PRIu64
              " captures; %.3f %% of the time is complete\n",
              stats.intervals, stats.walked_at_switch, stats.captures,
              100.0 * static_cast<double>(complete) / static_cast<double>(all));
  ASSERT_GE(stats.intervals, 10'000u) << "hardly any load: no test";
  EXPECT_GE(static_cast<double>(complete), 0.995 * static_cast<double>(all)) << recording.DropsText();
  EXPECT_GE(static_cast<double>(stats.walked_at_switch), 0.9 * static_cast<double>(stats.intervals));
  EXPECT_EQ(recording.FindDrop(kDiffers), nullptr) << recording.DropsText();
}

TEST(UserWalk, ServesPostgresUnderLoad) {
  if (!CanWalk()) GTEST_SKIP() << "this kernel cannot defer captures";
  if (!PostgresLoad::IsInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  const PostgresLoad postgres;
  ASSERT_TRUE(postgres.is_ready());
  ExpectNearlyAllComplete(postgres.load());
}

TEST(UserWalk, ServesRedisUnderLoad) {
  if (!CanWalk()) GTEST_SKIP() << "this kernel cannot defer captures";
  if (!IsInstalled("redis-server") || !IsInstalled("redis-benchmark")) GTEST_SKIP() << "redis is not installed";
  const RedisLoad redis;
  ExpectNearlyAllComplete(redis.load());
}

using Counts = std::map<std::string, uint64_t>;

// By user stack, of the waits that the program has asked for: what took its CPU away differs each time, and so does
// how far the kernel had come.
Counts CountSleeps(const Recording& recording) {
  Counts counts;
  const auto waits = [](const StackRow& row) {
    return row.complete() && row.Has("shared_wait") && row.row->kind == WaitKind::kSleeping;
  };
  for (const StackRow& row : recording.Rows(waits)) {
    const std::string text = row.Text();
    counts[text.substr(0, text.find("; -;"))] += row.row->count;
  }
  return counts;
}

TEST(UserWalk, TellsWhatCapturesTell) {
  if (!CanWalk()) GTEST_SKIP() << "this kernel cannot defer captures";
  Counts walked;
  Counts captured;
  for (const uint32_t proof_odds : {0u, 1000u}) {
    const std::unique_ptr<Target> target = Target::Start({"two_callers", "--rounds", "3000"});
    ASSERT_NE(target, nullptr);
    const Recording recording = Record(WithOdds({target->pid()}, proof_odds), *target);
    const ProfileStats& stats = recording.profile.stats;
    if (proof_odds == 0) {
      EXPECT_EQ(stats.walked_at_switch, 0u);
      captured = CountSleeps(recording);
    } else {
      EXPECT_GE(stats.walked_at_switch, stats.intervals * 9 / 10);
      EXPECT_LE(stats.captures, stats.intervals / 10);
      walked = CountSleeps(recording);
    }
  }
  EXPECT_EQ(walked.size(), captured.size());
  // A thread that is preempted on its way to sleep, or whose sleep is over by then, does not sleep.
  for (const auto& [stack, count] : captured) {
    EXPECT_NEAR(static_cast<double>(walked[stack]), static_cast<double>(count), 0.01 * static_cast<double>(count))
        << stack;
  }
}

using Sums = std::map<std::string, std::tuple<uint64_t, uint64_t, uint64_t, uint64_t>>;

// By stack: count, blocked, runnable and longest of the waits between the two ends of the ping-pong.
Sums SumsOf(const Recording& recording) {
  Sums sums;
  const auto wanted = [](const StackRow& row) {
    return row.complete() && (row.Has("ping_loop") || row.Has("pong_loop"));
  };
  for (const StackRow& row : recording.Rows(wanted)) {
    const bool is_new = sums.try_emplace(row.Text() + "; " + std::string(Name(row.row->kind)), row.row->count,
                                         row.row->blocked_ns, row.row->runnable_ns, row.row->max_ns)
                            .second;
    EXPECT_TRUE(is_new) << row.Text();
  }
  return sums;
}

// Two recorders of one run read the same times: what the one is told in sums, the other is told wait by wait.
TEST(UserWalk, SumsAreWhatRecordsTell) {
  if (!CanWalk()) GTEST_SKIP() << "this kernel cannot defer captures";
  const std::unique_ptr<Target> target = Target::Start({"pingpong", "--seconds", "2", "--frames", "10"});
  ASSERT_NE(target, nullptr);
  RecordConfig config = WithOdds({target->pid(), target->Detail("pong")}, 1000);
  absl::StatusOr<std::unique_ptr<Recorder>> summing = Recorder::Start(config);
  config.sums = false;
  absl::StatusOr<std::unique_ptr<Recorder>> telling = Recorder::Start(config);
  ASSERT_TRUE(summing.ok() && telling.ok());
  target->Go();
  target->AwaitDone();
  const Recording summed = MustStop(**summing);
  const Recording told = MustStop(**telling);
  target->End();
  EXPECT_GE(summed.profile.stats.summed_at_switch, summed.profile.stats.intervals * 9 / 10);
  EXPECT_EQ(told.profile.stats.summed_at_switch, 0u);
  EXPECT_GE(SumsOf(told).size(), 2u);
  EXPECT_EQ(SumsOf(summed), SumsOf(told));
}

}  // namespace
}  // namespace offcpu::integration

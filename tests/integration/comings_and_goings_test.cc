// No stack is wrong though images, libraries, threads and pids change under the recorder, and no wait is in another
// thread's account.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "symbolize/symbolizer.h"
#include "tests/harness/churn_callers.h"
#include "tests/harness/harness.h"
#include "tests/harness/ledger_rows.h"

namespace offcpu::integration {
namespace {

using Clock = std::chrono::steady_clock;

// All frames have their callers, and some waits below each of the functions are whole.
void ExpectRight(const std::vector<std::string>& words, const Callers& callers,
                 const std::vector<std::string>& functions) {
  const std::unique_ptr<Target> target = Target::Start(words);
  ASSERT_NE(target, nullptr);
  RecordConfig config = Unthrottled({target->pid()});
  config.follow_forks = true;
  const Recording recording = Record(config, *target);
  for (const StackRow& row : recording.Rows([](const StackRow&) { return true; })) {
    if (row.user->missing == NoUserStack::kNone) ExpectRealCallers(row, callers);
  }
  for (const std::string& function : functions) {
    EXPECT_GT(recording.Sum([&](const StackRow& row) { return row.complete() && row.Has(function); }).count, 0u)
        << function << "\n"
        << recording.LossesText();
  }
}

TEST(ComingsAndGoings, OfImages) {
  ExpectRight({"churn", "exec", "--rounds", "10", "--life-ms", "100"}, ImageCallers(),
              {"image_a_wait", "image_b_wait"});
}

TEST(ComingsAndGoings, OfPids) {
  ExpectRight({"churn", "pids", "--rounds", "10", "--life-ms", "100"}, ImageCallers(), {"image_a_wait"});
}

TEST(ComingsAndGoings, OfLibrariesAtOneAddress) {
  ExpectRight({"churn", "dlopen", "--rounds", "10", "--life-ms", "100"}, LibraryCallers(),
              {"lib_a_wait", "lib_b_wait"});
}

TEST(ComingsAndGoings, OfChildren) {
  ExpectRight({"churn", "fork", "--rounds", "100"}, {{"fork_child_wait", ""}, {"fork_parent_wait", ""}},
              {"fork_child_wait", "fork_parent_wait"});
}

TEST(ComingsAndGoings, OfThreads) {
  ExpectRight({"churn", "exit", "--rounds", "50"},
              {{"exit_blocked_wait", ""}, {"exit_thread_wait", ""}, {"exit_main_wait", ""}},
              {"exit_thread_wait", "exit_main_wait"});
}

RecordConfig WithLedger(pid_t pid) {
  RecordConfig config;
  config.pids = {pid};
  config.follow_forks = true;
  config.ledger = true;
  config.per_thread = true;
  return config;
}

class Ledgers : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(Ledgers, HaveTheTimeOfTheRows) {
  const std::unique_ptr<Target> target = Target::Start(GetParam());
  ASSERT_NE(target, nullptr);
  const auto begin = Clock::now();
  const Recording recording = Record(WithLedger(target->pid()), *target);
  const std::chrono::nanoseconds took = Clock::now() - begin;
  ExpectRowsAreTheLedger(recording);
  ASSERT_FALSE(recording.profile.ledger.empty());
  for (const LedgerEntry& entry : recording.profile.ledger) {
    EXPECT_LE(entry.wall_ns, static_cast<uint64_t>(took.count())) << entry.comm;
    EXPECT_LE(entry.blocked_ns + entry.runnable_ns, static_cast<uint64_t>(took.count())) << entry.comm;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Ledgers,
                         testing::Values(std::vector<std::string>{"waits", "--seconds", "0.4"},
                                         std::vector<std::string>{"churn", "exec", "--rounds", "20"},
                                         std::vector<std::string>{"churn", "fork", "--rounds", "50"},
                                         std::vector<std::string>{"churn", "exit", "--rounds", "50"}),
                         [](const auto& words) { return words.param[0] == "waits" ? "waits" : words.param[1]; });

TEST(Ledgers, AreNotKeptUnasked) {
  const std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "0.1"});
  ASSERT_NE(target, nullptr);
  EXPECT_TRUE(Record(Unthrottled({target->pid()}), *target).profile.ledger.empty());
}

// One after another without a gap, each with the waits that go on when it ends.
TEST(ComingsAndGoings, OfWindows) {
  const std::unique_ptr<Target> target = Target::Start({"blocked"});
  ASSERT_NE(target, nullptr);
  const auto begin = Clock::now();
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(Unthrottled({target->pid()}));
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  uint64_t end_unix_ns = 0;
  std::map<std::string, uint64_t> waited_ns;
  for (int i = 0; i < 4; ++i) {
    absl::StatusOr<Profile> profile = i < 3 ? (*recorder)->Cut() : (*recorder)->Stop();
    ASSERT_TRUE(profile.ok()) << profile.status();
    EXPECT_TRUE(i == 0 || profile->start_unix_ns == end_unix_ns) << i;
    end_unix_ns = profile->start_unix_ns + profile->duration_ns;
    const Recording window = {.profile = Symbolize(*std::move(profile))};
    for (const char* function : {"first_wait", "condition_wait"}) {
      const std::vector<StackRow> rows = window.Rows([&](const StackRow& row) { return row.Has(function); });
      ASSERT_EQ(rows.size(), 1u) << function << " in window " << i;
      EXPECT_EQ(rows[0].row->kind, WaitKind::kOpen);
      EXPECT_TRUE(rows[0].complete()) << rows[0].Text();
      EXPECT_LE(rows[0].row->total_ns(), window.profile.duration_ns) << function << " in window " << i;
      waited_ns[function] += rows[0].row->total_ns();
    }
  }
  const std::chrono::nanoseconds took = Clock::now() - begin;
  for (const auto& [function, ns] : waited_ns) EXPECT_LE(ns, static_cast<uint64_t>(took.count())) << function;
}

}  // namespace
}  // namespace offcpu::integration

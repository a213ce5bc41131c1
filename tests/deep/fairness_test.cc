// A quiet user beside a noisy one keeps all of his waits, with their stacks, where those of the noisy one cost more
// than the budget.
#include <gtest/gtest.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "recorder/record_config.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

constexpr std::chrono::seconds kLength{8};

using Words = std::vector<std::string>;

// Naps this short are sampled where the user has the T of the noisy one.
const Words kQuiet = {"nappers", "--threads", "1", "--nap-ms", "5"};
const Words kNoisy = {"nappers", "--threads", "60", "--nap-ms", "1.1"};
constexpr uint64_t kLeastThresholdNs = 20'000'000;

// Root has a place of its own, so these two users never share one.
constexpr char kRoot[] = "0";
constexpr char kOther[] = "4711";

// 10 ms of CPU time a second, on any host.
uint64_t BudgetPpm() { return std::max(10'000 / std::max(1u, std::thread::hardware_concurrency()), 1u); }

std::unique_ptr<Target> StartAs(const std::string& uid, const Words& target) {
  Words words = {"/usr/bin/setpriv", "--reuid=" + uid, "--clear-groups", BinDirectory() + "/targets/" + target.front()};
  words.insert(words.end(), target.begin() + 1, target.end());
  std::unique_ptr<Target> started = Target::Start(words);
  if (started == nullptr) return nullptr;
  started->Go();
  started->AwaitDone();  // all threads are there
  return started;
}

struct Naps {
  uint64_t count = 0;
  uint64_t with_stack = 0;
  uint64_t sampled_rows = 0;  // that stand for others, or may
  uint64_t off_cpu_ns = 0;
};

// Its first thread sleeps throughout, and is left out.
Naps NapsOf(const Recording& recording, pid_t pid) {
  Naps naps;
  for (const StackRow& row :
       recording.Rows([&](const StackRow& r) { return r.process->key.pid == pid && r.row->tid != pid; })) {
    naps.off_cpu_ns += row.row->total_ns();
    naps.sampled_rows += row.row->count_variance != 0;
    if (row.row->kind != WaitKind::kSleeping) continue;
    naps.count += row.row->count;
    if (row.complete()) naps.with_stack += row.row->count;
  }
  return naps;
}

void ExpectAllIsKept(const std::string& quiet_uid, const std::string& noisy_uid, bool is_of_host) {
  const std::unique_ptr<Target> noisy = StartAs(noisy_uid, kNoisy);
  const std::unique_ptr<Target> quiet = StartAs(quiet_uid, kQuiet);
  ASSERT_TRUE(noisy != nullptr && quiet != nullptr);
  RecordConfig config;
  config.adapts_sample = true;
  config.per_thread = true;
  config.cpu_budget_ppm = BudgetPpm();
  if (!is_of_host) config.pids = {noisy->pid(), quiet->pid()};
  const uint64_t stolen_before_ns = StolenNs();
  const absl::StatusOr<std::unique_ptr<Recorder>> recorder = Recorder::Start(config);
  ASSERT_TRUE(recorder.ok()) << recorder.status();
  std::this_thread::sleep_for(kLength);
  const Recording recording = MustStop(**recorder);
  const uint64_t stolen_ns = StolenNs() - stolen_before_ns;
  const ProfileStats& stats = recording.profile.stats;
  const Naps naps = NapsOf(recording, quiet->pid());
  std::printf("T up to %.3f ms, %" PRIu64 " waits left out; %" PRIu64 " naps, %" PRIu64
              " with stacks, %.3f s off a CPU of %.3f s\n",
              static_cast<double>(stats.sample_most_ns) / 1e6, stats.not_sampled, naps.count, naps.with_stack,
              static_cast<double>(naps.off_cpu_ns) / 1e9, static_cast<double>(recording.profile.duration_ns) / 1e9);
  ASSERT_GT(stats.sample_most_ns, kLeastThresholdNs) << "it makes no noise: no test";
  EXPECT_EQ(naps.sampled_rows, 0u) << "not all are recorded";
  EXPECT_GE(naps.count, 100u);
  EXPECT_EQ(naps.with_stack, naps.count) << recording.LossesText();
  EXPECT_TRUE(Within(naps.off_cpu_ns, recording.profile.duration_ns, 0.02, stolen_ns));
}

TEST(Fairness, OfAUserBesideRoot) { ExpectAllIsKept(kOther, kRoot, /*is_of_host=*/true); }

// Root does more on a host than these.
TEST(Fairness, OfRootBesideAUser) { ExpectAllIsKept(kRoot, kOther, /*is_of_host=*/false); }

}  // namespace
}  // namespace offcpu::integration

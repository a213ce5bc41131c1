// Every way to leave the CPU has its own kind, and every sample its stack.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include "bpf_programs/kernel.h"
#include "tests/harness/harness.h"
#include "tests/harness/record_until.h"

namespace offcpu::integration {
namespace {

RecordConfig Exact(const Target& target) {
  RecordConfig config = Unthrottled({target.pid()});
  config.per_thread = true;
  config.follow_forks = true;
  return config;
}

RowPredicate Of(const std::string& comm, WaitKind kind, const std::string& function) {
  return [=](const StackRow& row) { return row.comm == comm && row.row->kind == kind && row.Has(function); };
}

// Nothing is in the way between two system calls but the tick, which takes the CPU from one and gives it to the other.
TEST(Kinds, OfTwoHogsOnOneCpuArePreempted) {
  const std::unique_ptr<Target> target = Target::Start({"states", "hogs", "--seconds", "90"});
  ASSERT_NE(target, nullptr);
  RecordUntilThereAre({{"a", Of("hog_a", WaitKind::kPreempted, "hog_loop"), 5},
                       {"b", Of("hog_b", WaitKind::kPreempted, "hog_loop"), 5}},
                      Exact(*target), *target, [](const StackRow& row) {
                        if (!row.comm.starts_with("hog_") || row.row->kind == WaitKind::kOpen) return;
                        EXPECT_EQ(row.row->kind, WaitKind::kPreempted) << row.Text();
                        EXPECT_FALSE(row.complete() && !row.Has("hog_loop")) << row.Text();
                      });
}

TEST(Kinds, OfAThreadThatYieldsAreYielded) {
  const std::unique_ptr<Target> target = Target::Start({"states", "yield", "--seconds", "90"});
  ASSERT_NE(target, nullptr);
  RecordUntilThereAre({{"yields", Of("yielder", WaitKind::kYielded, "yield_once")}}, Exact(*target), *target,
                      [](const StackRow& row) {
                        if (row.comm != "yielder" || row.row->kind != WaitKind::kYielded) return;
                        EXPECT_EQ(row.row->blocked_ns, 0u) << row.Text();
                        EXPECT_TRUE(!row.complete() || row.Has("yield_once")) << row.Text();
                      });
}

// The kernel books the rest of such a sleep as waiting for a CPU. When it moves a thread is up to it.
TEST(Kinds, OfAThreadThatIsMovedAsleepAreBlocked) {
  const absl::StatusOr<KernelFeatures> features = ProbeKernel();
  ASSERT_TRUE(features.ok()) << features.status();
  bool was_moved = !features->delays_dequeue;
  for (int i = 0; i < 50 && (i == 0 || !was_moved); ++i) {
    const std::unique_ptr<Target> target = Target::Start({"moved_asleep"});
    ASSERT_NE(target, nullptr);
    const Recording recording = Record(Exact(*target), *target);
    uint64_t blocked_ns = 0;
    for (const StackRow& row : recording.Rows([](const StackRow& r) { return r.Has("moved_sleep"); }))
      blocked_ns += row.row->blocked_ns;
    EXPECT_GE(blocked_ns, target->Measured("sleeper", "moved_sleep").ns) << recording.LossesText();
    was_moved |= recording.FindLoss("time waiting for a CPU not known") != nullptr;
  }
  EXPECT_TRUE(was_moved);
}

class Endings : public testing::TestWithParam<const char*> {};

// What ends a process wakes its threads: until then they are blocked.
TEST_P(Endings, LoseNoWait) {
  const std::unique_ptr<Target> target = Target::Start({"states", GetParam(), "--rounds", "2"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Exact(*target), *target);
  uint64_t blocked_ns = 0;
  for (const StackRow& row : recording.Rows([](const StackRow& r) { return r.comm == "doomed"; })) {
    blocked_ns += row.row->blocked_ns;
    EXPECT_NE(row.row->kind, WaitKind::kOpen) << row.Text();
  }
  EXPECT_GE(blocked_ns, target->Measured("doomed", "inner").ns / 2) << recording.LossesText();
  EXPECT_LE(blocked_ns, 6 * recording.profile.duration_ns) << "of six threads";
}

INSTANTIATE_TEST_SUITE_P(Of, Endings, testing::Values("exec", "exit", "kill"),
                         [](const auto& ending) { return std::string(ending.param); });

// No thread of a process that has ended waits, though its parent has not asked about its end yet.
TEST(Kinds, OfAZombieAreNone) {
  const std::unique_ptr<Target> target = Target::Start({"states", "zombie", "--seconds", "0.2"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Exact(*target), *target);
  const auto child = static_cast<pid_t>(target->Value("child"));
  const std::vector<StackRow> rows =
      recording.Rows([child](const StackRow& row) { return row.process->key.pid == child; });
  EXPECT_FALSE(rows.empty());
  for (const StackRow& row : rows) EXPECT_NE(row.row->kind, WaitKind::kOpen) << row.Text();
}

TEST(Kinds, OfProcessesWithOnePidAreNotMixed) {
  const std::unique_ptr<Target> target = Target::Start({"states", "pids", "--rounds", "10"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Exact(*target), *target);
  std::map<uint64_t, std::set<std::string>> lives;  // names of their threads, by the start of the process
  for (const StackRow& row : recording.Rows([](const StackRow& r) { return r.comm.ends_with("_life"); })) {
    lives[row.process->key.start_ns].insert(row.comm);
    EXPECT_TRUE(!row.complete() || row.Has(row.comm + "_wait")) << row.Text();
  }
  EXPECT_EQ(lives.size(), 10u) << recording.LossesText();
  for (const auto& [start_ns, names] : lives) EXPECT_EQ(names.size(), 1u) << start_ns;
}

TEST(Kinds, OfSamplesHaveTheirPeriodAndNoWait) {
  const std::unique_ptr<Target> target = Target::Start({"duty", "--seconds", "90"});
  ASSERT_NE(target, nullptr);
  RecordConfig config = Unthrottled({target->pid()});
  config.oncpu_hz = 997;
  uint64_t samples = 0;
  RecordUntil(config, *target, [&samples](const Recording& window) {
    for (const StackRow& row : window.Rows([](const StackRow& r) { return r.row->kind == WaitKind::kRunning; })) {
      EXPECT_EQ(row.row->count, 0u) << row.Text();
      EXPECT_EQ(row.row->total_ns(), 0u) << row.Text();
      EXPECT_EQ(row.row->cpu_ns, row.row->samples * window.profile.stats.oncpu_period_ns) << row.Text();
      if (row.complete() && row.Calls({"_start", "main", "duty_cycle", "duty_work"})) samples += row.row->samples;
    }
    return samples >= 10;
  });
}

}  // namespace
}  // namespace offcpu::integration

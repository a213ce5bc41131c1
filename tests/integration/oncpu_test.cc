// What runs and what waits, in one profile: together they are the wall-clock time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "tests/integration/harness.h"

namespace offcpu::integration {
namespace {

constexpr uint32_t kHz = 997;

bool IsSample(const StackRow& row) { return row.row->kind == WaitKind::kRunning; }

struct Times {
  uint64_t off_ns = 0;
  uint64_t cpu_ns = 0;
  uint64_t samples = 0;
};

Times TimesOf(const Recording& recording, const RowPredicate& wanted) {
  Times times;
  for (const StackRow& row : recording.Rows(wanted)) {
    times.off_ns += row.row->total_ns();
    times.cpu_ns += row.row->cpu_ns;
    times.samples += row.row->samples;
  }
  return times;
}

double Percent(uint64_t part, uint64_t whole) { return 100.0 * static_cast<double>(part) / static_cast<double>(whole); }

TEST(OnCpu, SamplesAndIntervalsTogetherAreTheWallClockTime) {
  const std::unique_ptr<Target> target = Target::Start({"duty", "--seconds", "10"});
  ASSERT_NE(target, nullptr);
  RecordConfig config = Unthrottled({target->pid()});
  config.oncpu_hz = kHz;
  const Recording recording = Record(config, *target);
  const Times all = TimesOf(recording, [](const StackRow& row) { return row.Has("duty_cycle"); });
  const uint64_t wall_ns = target->Value("wall_ns");
  const uint64_t cpu_ns = target->Value("cpu_ns");
  std::printf(
      "off %.2f %% + on %.2f %% = %.2f %% of the wall-clock time; the program measures %.2f %% on; %llu samples\n%s",
      Percent(all.off_ns, wall_ns), Percent(all.cpu_ns, wall_ns), Percent(all.off_ns + all.cpu_ns, wall_ns),
      Percent(cpu_ns, wall_ns), static_cast<unsigned long long>(all.samples), recording.DropsText().c_str());
  ASSERT_GT(cpu_ns, wall_ns / 10) << "it hardly ran: no test";
  EXPECT_TRUE(Within(all.off_ns + all.cpu_ns, wall_ns, 0.02));
  EXPECT_EQ(recording.profile.stats.oncpu_period_ns, 1'000'000'000u / kHz);

  const Times working = TimesOf(recording, [](const StackRow& row) { return IsSample(row) && row.Has("duty_work"); });
  EXPECT_GE(Percent(working.samples, all.samples), 98.0) << "samples of the part that works";
  for (const StackRow& row : recording.Rows(IsSample)) {
    EXPECT_EQ(row.row->count, 0u);
    EXPECT_EQ(row.row->total_ns(), 0u);
    EXPECT_EQ(row.row->cpu_ns, row.row->samples * recording.profile.stats.oncpu_period_ns);
  }
}

// A system call that copies for long, and waits hundreds of times in between.
TEST(OnCpu, ASampleAndTheIntervalsOfASystemCallHaveOneStack) {
  const std::unique_ptr<Target> target = Target::Start({"pipe_writer", "--mib", "256"});
  ASSERT_NE(target, nullptr);
  RecordConfig config = Unthrottled({target->pid()});
  config.tids = {target->Detail("tid")};
  config.oncpu_hz = kHz;
  const Recording recording = Record(config, *target);
  const ProfileStats& stats = recording.profile.stats;

  const auto below_write = [](const StackRow& row) {
    return row.Calls({"write_caller", "one_write"}) && row.complete() && row.row->syscall == 1;
  };
  std::set<const UserStackEntry*> stacks;
  Times call;
  uint64_t intervals = 0;
  for (const StackRow& row : recording.Rows(below_write)) {
    stacks.insert(row.user);
    call.samples += row.row->samples;
    intervals += row.row->count;
  }
  std::printf("%llu intervals and %llu samples of one call; in all %llu cookies, %llu captures, %llu walks\n%s",
              static_cast<unsigned long long>(intervals), static_cast<unsigned long long>(call.samples),
              static_cast<unsigned long long>(stats.cookies), static_cast<unsigned long long>(stats.captures),
              static_cast<unsigned long long>(stats.walks), recording.DropsText().c_str());
  EXPECT_GE(intervals, 100u);
  ASSERT_GE(call.samples, 10u) << "it hardly ran: no test";
  EXPECT_EQ(stacks.size(), 1u);
  // What the thread did before and after the write may have taken one of each.
  const uint64_t others = stats.intervals + stats.oncpu_samples - intervals - call.samples;
  EXPECT_LE(stats.cookies, 1 + others);
  EXPECT_LE(stats.captures, 1 + others);
  EXPECT_LE(stats.walks, 1 + others);
  EXPECT_LE(others * 20, intervals + call.samples) << "the thread did something else: no test";
}

}  // namespace
}  // namespace offcpu::integration

// Traps that other profilers have fallen into, with the time of the waits that they lose; see docs/traps.md.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

// More threads than a map of starts would have room for: such maps have 10240 places in most tools.
constexpr const char* kCrowd = "12000";

void ExpectWholeLongestWait(const Recording& recording, const Target& target) {
  const Measure measured = target.Measured("longest", "longest_wait");
  const Measure got = recording.Sum([](const StackRow& row) { return row.complete() && row.Has("longest_wait"); });
  std::printf("%.3f s, %.4f %% of the measured time\n", static_cast<double>(measured.ns) / 1e9,
              100 * static_cast<double>(got.ns) / static_cast<double>(measured.ns));
  EXPECT_TRUE(Within(got.ns, measured.ns, 0.01, target.stolen_ns())) << recording.LossesText();
}

TEST(Traps, TheLongestWaitIsNotForgottenForShorterOnes) {
  const std::unique_ptr<Target> target = Target::Start({"states", "crowd", "--rounds", kCrowd});
  ASSERT_NE(target, nullptr);
  ExpectWholeLongestWait(Record(Unthrottled({target->pid()}), *target), *target);
}

TEST(Traps, ThreadsThatAreNotSelectedTakeNoPlace) {
  const std::unique_ptr<Target> target = Target::Start({"states", "crowd", "--rounds", kCrowd});
  ASSERT_NE(target, nullptr);
  RecordConfig config = Unthrottled({target->pid()});
  config.tids = {target->Detail("longest")};
  config.interval_ring_bytes = 4096;  // nothing of theirs may come this way
  const Recording recording = Record(config, *target);
  ExpectWholeLongestWait(recording, *target);
  EXPECT_LT(recording.profile.stats.intervals, 10u);
  EXPECT_EQ(recording.FindLoss("interval ring full"), nullptr) << recording.LossesText();
}

// In the middle of its first wait the thread is given another name: the wait has the name that it came back with.
TEST(Traps, AWaitHasTheNameThatItsThreadComesBackWith) {
  const std::unique_ptr<Target> target = Target::Start({"unusual", "rename"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  const uint64_t other_ns = recording.Sum([](const StackRow& row) { return row.comm == "other_name"; }).ns;
  const uint64_t measured_ns =
      target->Measured("other_name", "first_wait").ns + target->Measured("other_name", "renamed_wait").ns;
  EXPECT_TRUE(Within(other_ns, measured_ns, 0.01, target->stolen_ns())) << other_ns << ", measured " << measured_ns;
  for (const StackRow& row : recording.Rows([](const StackRow& r) { return r.comm == "first_name"; })) {
    EXPECT_LT(row.row->max_ns, 1'000'000'000u) << row.Text();
  }
}

}  // namespace
}  // namespace offcpu::integration

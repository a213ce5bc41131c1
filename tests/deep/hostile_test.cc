// A process that cannot be read stops nothing: others are recorded as ever, its own time is kept, and the trouble has a
// name among the losses.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

class Hostile : public testing::Test {
 protected:
  void RecordIt(const std::vector<std::string>& words) {
    target_ = Target::Start(words);
    ASSERT_NE(target_, nullptr);
    RecordConfig config = Unthrottled({target_->pid(), target_->Detail("normal")});
    const auto began = std::chrono::steady_clock::now();
    recording_ = Record(config, *target_);
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(3 + 7)) << "the recorder was held up";
    std::printf("%s", recording_.LossesText().c_str());

    ExpectTime("the process beside it", target_->Measured("hostile", "normal_wait").ns,
               [](const StackRow& row) { return row.complete() && row.Has("normal_wait"); });
    // With a stack or without one, the time of the hostile threads is there.
    // Waits without a whole stack do not say where in the program they were; that it was a sleep, the kernel says.
    ExpectTime("hostile_thread", target_->Measured("hostile_thread", "hostile_wait").ns, [](const StackRow& row) {
      return row.comm == "hostile_thread" && row.row->kind != WaitKind::kOpen && row.HasInKernel("hrtimer_nanosleep");
    });
  }

  void ExpectTime(const std::string& what, uint64_t measured, const RowPredicate& wanted) const {
    const Measure got = recording_.Sum(wanted);
    std::printf("%s: %.2f %% of the measured time\n", what.c_str(),
                100.0 * static_cast<double>(got.ns) / static_cast<double>(measured));
    EXPECT_TRUE(Within(got.ns, measured, 0.02, target_->stolen_ns()))
        << what << ": " << got.ns << " ns, measured " << measured << "\n"
        << recording_.LossesText();
  }

  bool Dropped(const std::string& part) const {
    for (const Loss& loss : recording_.profile.stats.losses) {
      if (loss.reason.find(part) != std::string::npos && loss.count > 0) return true;
    }
    return false;
  }

  std::unique_ptr<Target> target_;
  Recording recording_;
};

TEST_F(Hostile, FaultThatNobodyServes) {
  RecordIt({"hostile", "uffd"});
  EXPECT_TRUE(Dropped("stuck")) << recording_.LossesText();
}

TEST_F(Hostile, LibraryCutToHalf) {
  RecordIt({"hostile", "truncated"});
  EXPECT_TRUE(Dropped("unreadable")) << recording_.LossesText();
}

TEST_F(Hostile, LibraryCutToNothing) {
  RecordIt({"hostile", "truncated", "--zero"});
  EXPECT_TRUE(Dropped("unreadable")) << recording_.LossesText();
}

TEST_F(Hostile, DeviceAndFifo) {
  RecordIt({"hostile", "device"});
  // The library is deleted and not damaged: its table is read from memory. The device has none.
  ExpectTime("below the deleted library", target_->Measured("hostile_thread", "hostile_wait").ns,
             [](const StackRow& row) { return row.complete() && row.Has("hostile_wait"); });
  const auto in_device = [](const StackRow& row) { return row.Has("device_wait"); };
  EXPECT_GT(recording_.Sum(in_device).count, 1000u);
  for (const StackRow& row : recording_.Rows(in_device)) EXPECT_FALSE(row.complete()) << row.Text();
}

}  // namespace
}  // namespace offcpu::integration

// A stack of a hundred thousand frames: captures have its innermost ones, and all of its time.
#include <gtest/gtest.h>

#include <memory>

#include "tests/harness/harness.h"
#include "unwind/walk.h"

namespace offcpu::integration {
namespace {

// A capture does not reach its outermost frames.
TEST(DeepStacks, AreNotComplete) {
  const std::unique_ptr<Target> target =
      Target::Start({"very_deep", "--frames", "100000", "--wait-ms", "1", "--seconds", "2"});
  ASSERT_NE(target, nullptr);
  const Recording recording = Record(Unthrottled({target->pid()}), *target);
  const auto is_deep = [](const StackRow& row) { return row.Has("innermost"); };
  for (const StackRow& row : recording.Rows(is_deep)) {
    EXPECT_EQ(row.user->end, EndReason::kStackCopy) << row.Text();
    ASSERT_EQ(row.user->frames.size(), kMaxFrames);
    EXPECT_EQ(row.user->frames.back().name(), "recurse") << row.Text();
  }
  const Measure measured = target->Measured("very_deep", "innermost");
  EXPECT_TRUE(Within(recording.Sum(is_deep).ns, measured.ns, 0.02, target->stolen_ns())) << recording.LossesText();
}

}  // namespace
}  // namespace offcpu::integration

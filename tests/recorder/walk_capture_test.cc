#include "recorder/walk_capture.h"

#include "gtest/gtest.h"
#include "tests/recorder/fake_runtime.h"
#include "tests/recorder/made_up_events.h"

namespace offcpu {
namespace {

class WalkCaptureTest : public ::testing::Test {
 protected:
  Walkers walkers_;
  UserStack stack_;
  ProfileStats stats_;
};

// By frame pointers alone: that there is no further one proves nothing.
TEST_F(WalkCaptureTest, GoesUpToTheOutermostFrame) {
  ASSERT_TRUE(WalkCapture(ACapture(1, kVersion1), {SpaceAt(kCode)}, walkers_, &stack_));
  EXPECT_EQ(stack_.end, EndReason::kGuessedEnd);
  EXPECT_EQ(stack_.frames.size(), 2u);
  CountWalk(stack_, stats_);
  EXPECT_EQ(stats_.walks, 1u);
  EXPECT_EQ(stats_.walk_ends[static_cast<size_t>(EndReason::kGuessedEnd)], 1u);
  EXPECT_EQ(stats_.walk_ends[static_cast<size_t>(EndReason::kComplete)], 0u);
  EXPECT_EQ(stats_.complete_walks_by_source[static_cast<size_t>(FrameSource::kFramePointer)], 0u);
}

// The registers are where the kernel keeps those of x86-64, and the words of the stack have four bytes.
TEST_F(WalkCaptureTest, OfAProgramOf32Bits) {
  constexpr uint64_t kSp = 0xff801000;
  CaptureEvent capture = ACapture(1, kVersion1);
  capture.is_32_bit = true;
  capture.registers.value[kRip] = kCode;
  capture.registers.value[kRsp] = kSp;
  capture.registers.value[kRbp] = kSp + 8;
  capture.stack.assign(16, std::byte{0});
  const uint32_t return_address = static_cast<uint32_t>(kCode + 0x10);
  std::memcpy(capture.stack.data() + 12, &return_address, sizeof(return_address));
  ASSERT_TRUE(WalkCapture(capture, {SpaceAt(kCode)}, walkers_, &stack_));
  EXPECT_EQ(stack_.end, EndReason::kGuessedEnd) << Name(stack_.end);
  ASSERT_EQ(stack_.frames.size(), 2u);
  EXPECT_EQ(stack_.frames[1].address, return_address);
}

TEST_F(WalkCaptureTest, ARuntimeIsAskedForCodeOfItsOwnMachine) {
  const auto runtime = std::make_shared<FakeRuntime>();
  CaptureEvent capture = ACapture(1, kVersion1);
  capture.at_ns = 7;
  capture.is_32_bit = true;
  EXPECT_TRUE(WalkCapture(capture, {.space = SpaceAt(kCode), .runtime = runtime}, walkers_, &stack_));
  EXPECT_EQ(runtime->walked_ns, 0u);
  capture.is_32_bit = false;
  EXPECT_TRUE(WalkCapture(capture, {.space = SpaceAt(kCode), .runtime = runtime}, walkers_, &stack_));
  EXPECT_EQ(runtime->walked_ns, 7u);
}

TEST_F(WalkCaptureTest, AProvenEndIsCountedBySource) {
  stack_.frames.resize(2, {.address = kCode, .source = FrameSource::kEhFrame});
  stack_.end = EndReason::kComplete;
  CountWalk(stack_, stats_);
  EXPECT_EQ(stats_.walk_ends[static_cast<size_t>(EndReason::kComplete)], 1u);
  EXPECT_EQ(stats_.complete_walks_by_source[static_cast<size_t>(FrameSource::kEhFrame)], 1u);
}

// A stack that would reach over the end of the address space is none.
TEST_F(WalkCaptureTest, RefusesAStackThatCannotBe) {
  CaptureEvent capture = ACapture(1, kVersion1);
  capture.registers.value[kRsp] = UINT64_MAX - capture.stack.size();
  EXPECT_TRUE(WalkCapture(capture, {SpaceAt(kCode)}, walkers_, &stack_));
  ++capture.registers.value[kRsp];
  EXPECT_FALSE(WalkCapture(capture, {SpaceAt(kCode)}, walkers_, &stack_));
}

// What is missing may be what the walk has met.
TEST_F(WalkCaptureTest, LeavingCodeThatIsNotWholeProvesNothing) {
  const CaptureEvent capture = ACapture(1, kVersion1);
  ASSERT_TRUE(WalkCapture(capture, {SpaceAt(0x50000)}, walkers_, &stack_));
  EXPECT_EQ(stack_.end, EndReason::kNotMapped);
  EXPECT_TRUE(HasLeftCode(stack_));
  ASSERT_TRUE(WalkCapture(capture, {.space = SpaceAt(0x50000), .whole = false}, walkers_, &stack_));
  EXPECT_EQ(stack_.end, EndReason::kMapsChanged);
  CountWalk(stack_, stats_);
  EXPECT_EQ(stats_.walk_ends[static_cast<size_t>(EndReason::kMapsChanged)], 1u);
}

TEST_F(WalkCaptureTest, OneFrameHasNoSourceOfItsCallers) {
  stack_.end = EndReason::kComplete;
  stack_.frames.resize(1);
  CountWalk(stack_, stats_);
  for (const uint64_t walks : stats_.complete_walks_by_source) EXPECT_EQ(walks, 0u);
}

}  // namespace
}  // namespace offcpu

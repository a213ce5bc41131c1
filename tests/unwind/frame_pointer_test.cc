#include "unwind/frame_pointer.h"

#include <gtest/gtest.h>

#include <array>

namespace offcpu {
namespace {

constexpr uint64_t kStack = 0x7ffd00001000;

class PlausibleTest : public ::testing::Test {
 protected:
  bool Plausible(uint64_t fp, bool more = false) {
    std::array<uint64_t, 4> words = {};
    SpanMemory memory(kStack, std::as_bytes(std::span(words)));
    FrameState state = {.machine = &kX86_64};
    state.sp = kStack + 8;
    state.fp = fp;
    state.fp_known = known;
    return PlausibleFramePointer(state, {memory, kStack, kStack + sizeof(words), more});
  }
  bool known = true;
};

TEST_F(PlausibleTest, InTheStackAboveSp) {
  EXPECT_FALSE(Plausible(0));
  EXPECT_FALSE(Plausible(kStack));
  EXPECT_TRUE(Plausible(kStack + 8));
  EXPECT_FALSE(Plausible(kStack + 9));
  EXPECT_TRUE(Plausible(kStack + 24));
  EXPECT_FALSE(Plausible(kStack + 32));
  EXPECT_TRUE(Plausible(kStack + 32, /*more=*/true));
  known = false;
  EXPECT_FALSE(Plausible(kStack + 8));
}

TEST(FramePointerTest, EndOfChain) {
  FrameState state = {.machine = &kX86_64};
  state.fp = 0;
  EXPECT_FALSE(EndsFramePointerChain(state)) << "a leaf may have anything in the register";
  state.source = FrameSource::kEhFrame;
  EXPECT_FALSE(EndsFramePointerChain(state));
  state.source = FrameSource::kFramePointer;
  EXPECT_TRUE(EndsFramePointerChain(state));
  state.fp = 8;
  EXPECT_FALSE(EndsFramePointerChain(state));
  state.fp = 0;
  state.fp_known = false;
  EXPECT_FALSE(EndsFramePointerChain(state));
}

}  // namespace
}  // namespace offcpu

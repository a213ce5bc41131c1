#include "unwind/frame_pointer.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/unwind/sframe_builder.h"

namespace offcpu {
namespace {

constexpr uint64_t kStack = 0x7ffd00001000;

TEST(FramePointerTest, OnlyForCodeThatSaysNothing) {
  const UnwindOrder order;
  EXPECT_TRUE(UsesFramePointer(order, nullptr, false));
  Module module;
  EXPECT_FALSE(UsesFramePointer(order, &module, true)) << "could not be read: may have tables";
  module.code = {{0x1000, 0x2000}};
  EXPECT_TRUE(UsesFramePointer(order, &module, false));
  for (ModuleTable Module::*table : {&Module::eh_frame, &Module::eh_frame_hdr}) {
    (module.*table).bytes.resize(4);
    EXPECT_FALSE(UsesFramePointer(order, &module, true));
    (module.*table).bytes.clear();
  }
  for (bool Module::*damaged : {&Module::damaged_eh_frame, &Module::damaged_sframe}) {
    module.*damaged = true;
    EXPECT_FALSE(UsesFramePointer(order, &module, true));
    module.*damaged = false;
  }
}

TEST(FramePointerTest, SFrameThatIsPassedOverSaysNothing) {
  Module module;
  module.code = {{0x1000, 0x2000}};
  const auto uses = [&module](std::vector<uint8_t> head) {
    module.sframe = SFrameBuilder::TableOf(head);
    return UsesFramePointer(UnwindOrder(), &module, false);
  };
  // Magic, version, flags.
  EXPECT_FALSE(uses({0xe2, 0xde, 3, 4}));
  EXPECT_FALSE(uses({0xe2, 0xde, 3, 0xff})) << "damaged, but of a version that is read";
  EXPECT_TRUE(uses({0xe2, 0xde, 1, 0}));
  EXPECT_TRUE(uses({0xe2, 0xde, 2, 0}));
  EXPECT_TRUE(uses({0xe2, 0xde, 4, 4}));
  EXPECT_TRUE(uses(std::vector<uint8_t>(28))) << "what a linker leaves of an empty section";
}

TEST(FramePointerTest, PlaceInTheOrder) {
  const auto uses = [](const char* order, const Module* module, bool plausible) {
    return UsesFramePointer(*ParseUnwindOrder(order), module, plausible);
  };
  Module module;
  module.code = {{0x1000, 0x2000}};
  module.eh_frame.bytes.resize(4);
  EXPECT_FALSE(uses("sframe,eh_frame", nullptr, true));
  EXPECT_FALSE(uses("eh_frame,fp", &module, true));
  EXPECT_TRUE(uses("sframe,fp", &module, false));
  EXPECT_TRUE(uses("fp", &module, false));
  EXPECT_TRUE(uses("fp,sframe", &module, false)) << "nothing else could answer";
  EXPECT_FALSE(uses("fp,eh_frame", &module, false));
  EXPECT_TRUE(uses("fp,eh_frame", &module, true));
  EXPECT_FALSE(uses("sframe,fp,eh_frame", &module, false));
  EXPECT_TRUE(uses("sframe,fp,eh_frame", &module, true));
}

class PlausibleTest : public ::testing::Test {
 protected:
  bool Plausible(uint64_t fp, bool more = false) {
    std::array<uint64_t, 4> words = {};
    SpanMemory memory(kStack, std::as_bytes(std::span(words)));
    FrameState state;
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
  FrameState state;
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

#include "unwind/module_traits.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unwind/sframe_builder.h"

namespace offcpu {
namespace {

TEST(ModuleTraitsTest, TheFramePointerIsForCodeThatSaysNothing) {
  const UnwindOrder order;
  EXPECT_TRUE(TraitsOf(nullptr, order).ByFramePointer(false));
  Module module;
  EXPECT_FALSE(TraitsOf(&module, order).ByFramePointer(true)) << "could not be read: may have tables";
  EXPECT_TRUE(TraitsOf(nullptr, order).ByFramePointer(false)) << "no ELF object";
  module.code = {{0x1000, 0x2000}};
  EXPECT_TRUE(TraitsOf(&module, order).ByFramePointer(false));
  for (ModuleTable Module::*table : {&Module::eh_frame, &Module::eh_frame_hdr}) {
    (module.*table).bytes.resize(4);
    EXPECT_FALSE(TraitsOf(&module, order).ByFramePointer(true));
    (module.*table).bytes.clear();
  }
  for (bool Module::*damaged : {&Module::damaged_eh_frame, &Module::damaged_sframe}) {
    module.*damaged = true;
    EXPECT_FALSE(TraitsOf(&module, order).ByFramePointer(true));
    module.*damaged = false;
  }
}

TEST(ModuleTraitsTest, SFrameThatIsPassedOverSaysNothing) {
  Module module;
  module.code = {{0x1000, 0x2000}};
  const auto uses = [&module](std::vector<uint8_t> head) {
    module.sframe = SFrameBuilder::TableOf(head);
    return TraitsOf(&module, UnwindOrder()).ByFramePointer(false);
  };
  // Magic, version, flags.
  EXPECT_FALSE(uses({0xe2, 0xde, 3, 4}));
  EXPECT_FALSE(uses({0xe2, 0xde, 3, 0xff})) << "damaged, but of a version that is read";
  EXPECT_TRUE(uses({0xe2, 0xde, 1, 0}));
  EXPECT_TRUE(uses({0xe2, 0xde, 2, 0}));
  EXPECT_TRUE(uses({0xe2, 0xde, 4, 4}));
  EXPECT_TRUE(uses({0xde, 0xe2, 3, 4})) << "big-endian";
  EXPECT_TRUE(uses(std::vector<uint8_t>(28))) << "what a linker leaves of an empty section";
}

TEST(ModuleTraitsTest, PlaceInTheOrder) {
  const auto uses = [](const char* order, const Module* module, bool plausible) {
    return TraitsOf(module, *ParseUnwindOrder(order)).ByFramePointer(plausible);
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

// A table of Go's beside the frame pointer serves where that cannot be one.
TEST(ModuleTraitsTest, Go) {
  const UnwindOrder order;
  Module module;
  module.code = {{0x1000, 0x2000}};
  module.keeps_frame_pointer = true;
  EXPECT_TRUE(TraitsOf(&module, order).keeps_frame_pointer);
  EXPECT_TRUE(TraitsOf(&module, order).by_any_fp) << "stripped";
  module.debug_frame.bytes.resize(4);
  EXPECT_FALSE(TraitsOf(&module, order).by_any_fp);
  EXPECT_TRUE(TraitsOf(&module, order).by_plausible_fp);
  EXPECT_TRUE(TraitsOf(&module, *ParseUnwindOrder("fp")).by_any_fp) << "the table is not asked for";
  module.keeps_frame_pointer = false;
  EXPECT_FALSE(TraitsOf(&module, order).keeps_frame_pointer);
  EXPECT_FALSE(TraitsOf(&module, order).by_plausible_fp) << "a table as any other";
}

}  // namespace
}  // namespace offcpu

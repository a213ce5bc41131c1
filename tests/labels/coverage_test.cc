#include "labels/coverage.h"

#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::SizeIs;

class CoverageTest : public ::testing::Test {
 protected:
  std::shared_ptr<Module> Add(const std::string& path) {
    auto module = std::make_shared<Module>();
    module->path = path;
    profile_.code.push_back(module);
    return module;
  }
  void AddRow(NamedUserStack user, uint64_t count) {
    profile_.user_stacks.push_back(std::move(user));
    profile_.rows.push_back(
        {{{.user_stack = static_cast<uint32_t>(profile_.user_stacks.size() - 1)}, {.count = count}}});
  }
  static uint64_t Frames(const ModuleCoverage& m, FrameSource source) { return m.frames[static_cast<size_t>(source)]; }
  static uint64_t Ends(const ModuleCoverage& m, EndReason end) { return m.ends[static_cast<size_t>(end)]; }

  NamedProfile profile_;
};

// The source stands with the frame that was found by it; what it is good for is the module of the frame before.
TEST_F(CoverageTest, CountsWhatAModulesRulesLedTo) {
  const auto libc = Add("/lib/libc.so.6");
  const auto app = Add("/bin/app");
  const std::vector<NamedFrame> frames = {{{libc.get(), 1, FrameSource::kRegisters}},
                                          {{libc.get(), 2, FrameSource::kEhFrame}},
                                          {{app.get(), 3, FrameSource::kEhFrame}},
                                          {{nullptr, 4, FrameSource::kSFrame}},
                                          {{app.get(), 5, FrameSource::kFramePointer}}};
  AddRow({.frames = frames, .end = EndReason::kNoRow}, 10);
  AddRow({.frames = {frames[0]}, .end = EndReason::kComplete}, 3);
  const std::vector<ModuleCoverage> modules = CoverageOf(profile_);
  ASSERT_THAT(modules, SizeIs(3));
  EXPECT_EQ(modules[0].code, app.get()) << "where walks ended early comes first";
  EXPECT_EQ(Frames(modules[0], FrameSource::kSFrame), 10u);
  EXPECT_EQ(modules[0].total_frames(), 10u);
  EXPECT_EQ(Ends(modules[0], EndReason::kNoRow), 10u);
  EXPECT_EQ(modules[0].early_ends(), 10u);
  EXPECT_EQ(modules[1].code, libc.get());
  EXPECT_EQ(Frames(modules[1], FrameSource::kEhFrame), 20u);
  EXPECT_EQ(Ends(modules[1], EndReason::kComplete), 3u);
  EXPECT_EQ(modules[1].early_ends(), 0u);
  EXPECT_EQ(modules[2].code, nullptr);
  EXPECT_EQ(Frames(modules[2], FrameSource::kFramePointer), 10u);
}

TEST_F(CoverageTest, StacksWithoutFramesAreNotCounted) {
  const auto app = Add("/bin/app");
  AddRow({.missing = NoUserStack::kBudget}, 1);
  profile_.user_stacks.push_back({.frames = {{{app.get(), 1}}}, .end = EndReason::kNoRow});  // of no row
  EXPECT_THAT(CoverageOf(profile_), SizeIs(0));
}

}  // namespace
}  // namespace offcpu

#include "symbolize/name_again.h"

#include <memory>
#include <string>
#include <vector>

#include "fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "process/module.h"
#include "tests/profile/frame_lines.h"
#include "tests/source_lines/fixtures.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;

class NameAgainTest : public ::testing::Test {
 protected:
  NameAgainTest() {
    auto module = std::make_shared<Module>();
    module->path = "/usr/lib/fixture.so";
    module->build_id = id_;
    directory_.Write(".build-id/" + id_.substr(0, 2) + "/" + id_.substr(2) + ".debug", LinesFixture("separate.debug"));
    profile_.code.push_back(module);
    module_ = module.get();
    profile_.user_stacks.emplace_back();
  }

  void AddFrame(std::span<const FrameLine> lines, bool named) {
    profile_.user_stacks[0].frames.push_back(
        {{.code = module_, .address = AddressOf("gcc-5.so", "place_pop")}, named, lines, "fixture.so"});
  }

  std::vector<std::string> Functions() {
    std::vector<std::string> functions;
    for (const FrameLine& line : profile_.user_stacks[0].frames.at(0).lines) functions.emplace_back(line.function);
    return functions;
  }

  const std::string id_ = BuildIdOf(FixturePath("gcc-5.so"));
  TemporaryDirectory directory_;
  NamedProfile profile_;
  Module* module_ = nullptr;
};

TEST_F(NameAgainTest, AFrameWithoutANameGetsItsFunctionsAndPlaces) {
  AddFrame(Line("fixture.so+0x1032"), false);
  NameAgain(directory_.path(), &profile_);
  EXPECT_THAT(Functions(), ElementsAre("fixture::Queue::Pop", "fixture::Handle", "fixture::Run"));
  EXPECT_TRUE(profile_.user_stacks[0].frames[0].named);
  EXPECT_EQ(profile_.user_stacks[0].frames[0].lines[0].line, LineWith("place_pop"));
  EXPECT_TRUE(profile_.stats.losses.empty());
}

TEST_F(NameAgainTest, AFrameWithAPlaceKeepsIt) {
  AddFrame(Lines({{"f", "a.c", 7}}), true);
  NameAgain(directory_.path(), &profile_);
  EXPECT_THAT(Functions(), ElementsAre("f"));
}

TEST_F(NameAgainTest, WithoutAFileAFrameKeepsItsName) {
  AddFrame(Line("fixture.so+0x1032"), false);
  module_->build_id = "abcdef";
  NameAgain(directory_.path(), &profile_);
  EXPECT_THAT(Functions(), ElementsAre("fixture.so+0x1032"));
  EXPECT_FALSE(profile_.user_stacks[0].frames[0].named);
}

}  // namespace
}  // namespace offcpu

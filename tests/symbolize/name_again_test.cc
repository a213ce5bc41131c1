#include "symbolize/name_again.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "os/owned_fd.h"
#include "process/module.h"
#include "profile/losses.h"
#include "tests/profile/frame_lines.h"
#include "tests/source_lines/fixtures.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
  NameAgain(directory_.path(), nullptr, &profile_);
  EXPECT_THAT(Functions(), ElementsAre("fixture::Queue::Pop", "fixture::Handle", "fixture::Run"));
  EXPECT_TRUE(profile_.user_stacks[0].frames[0].named);
  EXPECT_EQ(profile_.user_stacks[0].frames[0].lines[0].line, LineWith("place_pop"));
  EXPECT_TRUE(profile_.stats.losses.empty());
}

TEST_F(NameAgainTest, AFrameWithAPlaceKeepsIt) {
  AddFrame(Lines({{"f", "a.c", 7}}), true);
  NameAgain(directory_.path(), nullptr, &profile_);
  EXPECT_THAT(Functions(), ElementsAre("f"));
}

TEST_F(NameAgainTest, WithoutAFileAFrameKeepsItsName) {
  AddFrame(Line("fixture.so+0x1032"), false);
  module_->build_id = "abcdef";
  NameAgain(directory_.path(), nullptr, &profile_);
  EXPECT_THAT(Functions(), ElementsAre("fixture.so+0x1032"));
  EXPECT_FALSE(profile_.user_stacks[0].frames[0].named);
}

// A server that has a file, and what it was asked for.
class NameFromServerTest : public NameAgainTest {
 protected:
  NameFromServerTest() { std::filesystem::remove_all(directory_.path() + "/.build-id"); }

  void Name(const absl::StatusOr<std::string>& file) {
    const auto fetch = [&](const std::string& build_id, std::string_view name) -> absl::StatusOr<OwnedFd> {
      asked_.push_back(std::string(name) + " " + build_id);
      if (!file.ok()) return file.status();
      return OpenLinesFixture(*file);
    };
    NameAgain(directory_.path(), fetch, &profile_);
  }

  // Files that could not be fetched.
  uint64_t Lost() const {
    uint64_t lost = 0;
    for (const Loss& loss : profile_.stats.losses)
      if (loss.reason == InfoOf(LossId::kDebugFileNotFetched).name) lost += loss.count;
    return lost;
  }

  std::vector<std::string> asked_;
};

TEST_F(NameFromServerTest, AFrameGetsItsFunctionsAndPlaces) {
  AddFrame(Line("fixture.so+0x1032"), false);
  Name("separate.debug");
  EXPECT_THAT(asked_, ElementsAre("fixture.so " + id_));
  EXPECT_THAT(Functions(), ElementsAre("fixture::Queue::Pop", "fixture::Handle", "fixture::Run"));
  EXPECT_EQ(profile_.user_stacks[0].frames[0].lines[0].line, LineWith("place_pop"));
  EXPECT_TRUE(profile_.stats.losses.empty());
}

TEST_F(NameFromServerTest, IsNotAskedForWhatIsKnown) {
  AddFrame(Lines({{"f", "a.c", 7}}), true);
  Name("separate.debug");
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(NameFromServerTest, IsNotAskedForWhatIsHere) {
  directory_.Write(".build-id/" + id_.substr(0, 2) + "/" + id_.substr(2) + ".debug", LinesFixture("separate.debug"));
  AddFrame(Line("fixture.so+0x1032"), false);
  Name(absl::UnavailableError("gone"));
  EXPECT_THAT(asked_, IsEmpty());
  EXPECT_TRUE(profile_.user_stacks[0].frames[0].named);
}

TEST_F(NameFromServerTest, AFileThatItDoesNotHaveIsNoLoss) {
  AddFrame(Line("fixture.so+0x1032"), false);
  Name(absl::NotFoundError("none"));
  EXPECT_THAT(Functions(), ElementsAre("fixture.so+0x1032"));
  EXPECT_EQ(Lost(), 0u);
}

TEST_F(NameFromServerTest, AFileThatCannotBeFetchedIsOne) {
  AddFrame(Line("fixture.so+0x1032"), false);
  Name(absl::UnavailableError("gone"));
  EXPECT_THAT(Functions(), ElementsAre("fixture.so+0x1032"));
  EXPECT_EQ(Lost(), 1u);
}

}  // namespace
}  // namespace offcpu

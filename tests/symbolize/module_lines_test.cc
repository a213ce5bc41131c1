#include "symbolize/module_lines.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "process/module.h"
#include "profile/losses.h"
#include "symbolize/symbolizer.h"
#include "tests/source_lines/fixtures.h"

namespace offcpu {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;

class ModuleLinesTest : public ::testing::Test {
 protected:
  // `file`: of the fixtures of source_lines; "": the module has none.
  Module& Open(const std::string& file, const std::string& build_id) {
    module_ = std::make_unique<Module>();
    module_->path = "/usr/lib/fixture.so";
    module_->build_id = build_id;
    if (!file.empty()) module_->file = OpenLinesFixture(file);
    return *module_;
  }

  std::vector<LineChain> Lines(const std::string& symbols = "gcc-5.so") {
    const std::vector<uint64_t> addresses = {AddressOf(symbols, "place_pop")};
    lines_ = ReadModuleLines(*module_, addresses, directory_.path(), kTime);
    return lines_.chains;
  }
  // Did it find the functions of the fixture?
  bool AreFound(const std::string& symbols = "gcc-5.so") {
    const std::vector<LineChain> chains = Lines(symbols);
    return chains.size() == 1 && chains[0].size() == 3 && chains[0][0].line == LineWith("place_pop") &&
           chains[0][0].function == "_ZN7fixture5Queue3PopEi";
  }

  static std::string PathOfId(const std::string& build_id) {
    return ".build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug";
  }

  static constexpr std::chrono::milliseconds kTime{20000};
  TemporaryDirectory directory_;
  std::unique_ptr<Module> module_;
  SourceLines lines_;
  const std::string id_ = BuildIdOf(FixturePath("gcc-5.so"));
};

TEST_F(ModuleLinesTest, TheModulesOwnFileIsTheFirst) {
  Open("gcc-5.so", id_);
  EXPECT_TRUE(AreFound());
}

TEST_F(ModuleLinesTest, AFileThatWasReplacedIsNotUsed) {
  Open("gcc-5.so", "abcdef");
  EXPECT_THAT(Lines(), IsEmpty());
}

TEST_F(ModuleLinesTest, ADebugFileIsFoundByBuildId) {
  Open("stripped.so", id_);
  EXPECT_THAT(Lines(), IsEmpty());
  directory_.Write(PathOfId(id_), LinesFixture("separate.debug"));
  EXPECT_TRUE(AreFound());
  Open("", id_);
  EXPECT_TRUE(AreFound()) << "even without the module's own file";
}

TEST_F(ModuleLinesTest, ADebugFileOfAnotherBuildIsNotUsed) {
  directory_.Write(PathOfId(id_), LinesFixture("clang-5.so"));
  Open("stripped.so", id_);
  EXPECT_THAT(Lines(), IsEmpty());
}

TEST_F(ModuleLinesTest, ADebugFileIsFoundByLink) {
  directory_.Write("usr/lib/separate.debug", LinesFixture("separate.debug"));
  Open("stripped.so", id_);
  EXPECT_TRUE(AreFound());
}

TEST_F(ModuleLinesTest, TheDebugFileOfTheTargetIsUsed) {
  Open("stripped.so", id_).debug_file = OpenLinesFixture("separate.debug");
  EXPECT_TRUE(AreFound());
  Open("stripped.so", "").debug_file = OpenLinesFixture("separate.debug");
  EXPECT_TRUE(AreFound()) << "the CRC of the link shows that it is the module's";
  Open("stripped.so", "").debug_file = OpenLinesFixture("gcc-4.so");
  EXPECT_THAT(Lines(), IsEmpty()) << "another CRC";
}

TEST_F(ModuleLinesTest, ASupplementaryFileIsFoundByBuildId) {
  Open("moved-1.so", "");  // it names a supplementary file that is not there
  EXPECT_FALSE(AreFound("moved-1.so"));
  const std::string id = BuildIdOf(FixturePath("moved-common.debug"));
  ASSERT_THAT(id, Not(IsEmpty()));
  directory_.Write(PathOfId(id), LinesFixture("moved-common.debug"));
  EXPECT_TRUE(AreFound("moved-1.so"));
}

TEST_F(ModuleLinesTest, WhatTakesTooLongIsCut) {
  Open("gcc-5.so", id_);
  const std::vector<uint64_t> addresses = {AddressOf("gcc-5.so", "place_pop")};
  EXPECT_TRUE(ReadModuleLines(*module_, addresses, directory_.path(), std::chrono::milliseconds(0)).is_cut);
}

// A stack of one frame in that file.
NamedProfile Named(OwnedFd file, uint64_t address) {
  auto module = std::make_shared<Module>();
  module->file = std::move(file);
  Profile profile;
  profile.code.push_back(module);
  profile.user_stacks.push_back({.stack = {.frames = {{.code = module.get(), .address = address}}}});
  return Symbolize(std::move(profile), {.kallsyms_path = "/dev/null", .lines = true});
}

// A unit of DWARF 99.
TEST_F(ModuleLinesTest, DamagedDebugInformationIsALoss) {
  std::string bytes = LinesFixture("gcc-5.so");
  const SpanMemory memory = MemoryOf(bytes);
  const auto elf = ElfFile::Parse(memory);
  ASSERT_TRUE(elf.ok());
  bytes.replace(elf->Find(".debug_info")->offset + 4, 1, "\x63");
  directory_.Write("damaged.so", bytes);
  const NamedProfile named = Named(OpenFixture(directory_.path() + "/damaged.so"), AddressOf("gcc-5.so", "place_pop"));
  ASSERT_EQ(named.stats.losses.size(), 1);
  EXPECT_EQ(named.stats.losses[0].reason, InfoOf(LossId::kLinesCut).name);
  EXPECT_EQ(named.user_stacks[0].frames[0].name(), "fixture::Run");
}

TEST_F(ModuleLinesTest, ASplitUnitThatIsGoneIsALoss) {
  const NamedProfile named =
      Named(OpenLinesFixture("package/unpacked.so"), AddressOf("package/unpacked.so", "place_pop"));
  ASSERT_EQ(named.stats.losses.size(), 1);
  EXPECT_EQ(named.stats.losses[0].reason, InfoOf(LossId::kSplitUnitsNotRead).name);
  ASSERT_EQ(named.user_stacks[0].frames[0].lines.size(), 1);
  EXPECT_EQ(named.user_stacks[0].frames[0].lines[0].file, LINES_SOURCE);
  EXPECT_EQ(named.user_stacks[0].frames[0].lines[0].line, LineWith("place_pop"));
}

}  // namespace
}  // namespace offcpu

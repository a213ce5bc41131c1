#include "runtimes/perf_map/perf_map.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "process/address_space.h"

namespace offcpu {
namespace {

// This process's own; removed at the end.
class PerfMapFileTest : public ::testing::Test {
 protected:
  void SetUp() override { std::ofstream(path_) << "1000 10 f\n"; }
  void TearDown() override { unlink(path_.c_str()); }

  const std::string path_ = "/tmp/perf-" + std::to_string(getpid()) + ".map";
};

TEST_F(PerfMapFileTest, StandsForTheCodeThatItNames) {
  const std::shared_ptr<const CodeObject> map = OpenPerfMap(getpid()).code;
  ASSERT_NE(map, nullptr);
  EXPECT_EQ(map->kind(), CodeKind::kPerfMap);
  EXPECT_EQ(map->path, path_);
  EXPECT_TRUE(map->file);
}

TEST_F(PerfMapFileTest, NoneIsNone) {
  unlink(path_.c_str());
  const PerfMap map = OpenPerfMap(getpid());
  EXPECT_EQ(map.code, nullptr);
  EXPECT_EQ(map.refusal, FileRefusal::kNone);
}

TEST_F(PerfMapFileTest, FilesAreToldApart) {
  const std::shared_ptr<const CodeObject> map = OpenPerfMap(getpid()).code;
  const std::shared_ptr<const CodeObject> again = OpenPerfMap(getpid()).code;
  std::ofstream(path_ + ".new") << "2000 10 g\n";
  ASSERT_EQ(rename((path_ + ".new").c_str(), path_.c_str()), 0);
  const std::shared_ptr<const CodeObject> other = OpenPerfMap(getpid()).code;
  ASSERT_TRUE(map != nullptr && again != nullptr && other != nullptr);
  EXPECT_TRUE(SamePerfMap(*map, *again));
  EXPECT_FALSE(SamePerfMap(*map, *other));
  EXPECT_FALSE(SamePerfMap(*map, CodeObject(CodeKind::kOtherFile)));
}

const std::vector<Mapping> kMadeCode = {{.begin = 0x1000, .end = 0x2000, .readable = true, .executable = true},
                                        {.begin = 0x4000, .end = 0x5000, .readable = true, .executable = true}};
constexpr CodeReader kReader = {.read_made = NameByPerfMap};

TEST_F(PerfMapFileTest, AllCodeThatAProcessMadeIsToldByOneModule) {
  ModuleCache modules;
  const SpanMemory memory(0, {});
  const auto space = BuildAddressSpace(kMadeCode, memory, getpid(), nullptr, modules, 0, kReader);
  ASSERT_EQ(space->code().size(), 2u);
  ASSERT_NE(space->code()[0].other, nullptr);
  EXPECT_TRUE(space->code()[0].other->kind() == CodeKind::kPerfMap);
  EXPECT_EQ(space->code()[0].bias, 0u);
  EXPECT_EQ(space->code()[1].other, space->code()[0].other);
  // And stays the same one, or frames of one function would differ.
  EXPECT_TRUE(BuildAddressSpace(kMadeCode, memory, getpid(), space.get(), modules, 0, kReader)->SameCode(*space));
}

TEST_F(PerfMapFileTest, WhatIsRefusedIsCounted) {
  ASSERT_EQ(chmod(path_.c_str(), 0646), 0);
  ModuleCache modules;
  const auto space = BuildAddressSpace(kMadeCode, SpanMemory(0, {}), getpid(), nullptr, modules, 0, kReader);
  EXPECT_EQ(space->code()[0].other, nullptr);
  EXPECT_EQ(modules.stats().files_refused[static_cast<size_t>(FileRefusal::kWritable)], 1u);
}

TEST_F(PerfMapFileTest, WithoutItMadeCodeHasNoModule) {
  unlink(path_.c_str());
  ModuleCache modules;
  const auto space = BuildAddressSpace(kMadeCode, SpanMemory(0, {}), getpid(), nullptr, modules, 0, kReader);
  EXPECT_EQ(space->code()[0].other, nullptr);
}

}  // namespace
}  // namespace offcpu

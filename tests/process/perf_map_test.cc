#include "process/perf_map.h"

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

TEST_F(PerfMapFileTest, StandsForCodeWithoutTables) {
  const std::shared_ptr<const Module> map = OpenPerfMap(getpid());
  ASSERT_NE(map, nullptr);
  EXPECT_TRUE(map->is_perf_map);
  EXPECT_EQ(map->path, path_);
  EXPECT_TRUE(map->file);
  EXPECT_TRUE(map->eh_frame.bytes.empty());
  EXPECT_TRUE(map->sframe.bytes.empty());
}

TEST_F(PerfMapFileTest, NoneIsNone) {
  unlink(path_.c_str());
  EXPECT_EQ(OpenPerfMap(getpid()), nullptr);
}

TEST_F(PerfMapFileTest, OnlyARegularFileCounts) {
  unlink(path_.c_str());
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(OpenPerfMap(getpid()), nullptr);
}

TEST_F(PerfMapFileTest, AnotherUsersFileDoesNotCount) {
  if (getuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(chown(path_.c_str(), 12345, 12345), 0);
  EXPECT_EQ(OpenPerfMap(getpid()), nullptr);
}

TEST_F(PerfMapFileTest, FilesAreToldApart) {
  const std::shared_ptr<const Module> map = OpenPerfMap(getpid());
  const std::shared_ptr<const Module> again = OpenPerfMap(getpid());
  std::ofstream(path_ + ".new") << "2000 10 g\n";
  ASSERT_EQ(rename((path_ + ".new").c_str(), path_.c_str()), 0);
  const std::shared_ptr<const Module> other = OpenPerfMap(getpid());
  ASSERT_TRUE(map != nullptr && again != nullptr && other != nullptr);
  EXPECT_TRUE(SamePerfMap(*map, *again));
  EXPECT_FALSE(SamePerfMap(*map, *other));
  EXPECT_FALSE(SamePerfMap(*map, Module()));
}

const std::vector<Mapping> kMadeCode = {{.begin = 0x1000, .end = 0x2000, .readable = true, .executable = true},
                                        {.begin = 0x4000, .end = 0x5000, .readable = true, .executable = true}};

TEST_F(PerfMapFileTest, AllCodeThatAProcessMadeIsToldByOneModule) {
  ModuleCache modules;
  const SpanMemory memory(0, {});
  const auto space = BuildAddressSpace(kMadeCode, memory, getpid(), nullptr, modules);
  ASSERT_EQ(space->code().size(), 2u);
  ASSERT_NE(space->code()[0].module, nullptr);
  EXPECT_TRUE(space->code()[0].module->is_perf_map);
  EXPECT_EQ(space->code()[0].bias, 0u);
  EXPECT_EQ(space->code()[1].module, space->code()[0].module);
  // And stays the same one, or frames of one function would differ.
  EXPECT_TRUE(BuildAddressSpace(kMadeCode, memory, getpid(), space.get(), modules)->SameCode(*space));
}

TEST_F(PerfMapFileTest, WithoutItMadeCodeHasNoModule) {
  unlink(path_.c_str());
  ModuleCache modules;
  const auto space = BuildAddressSpace(kMadeCode, SpanMemory(0, {}), getpid(), nullptr, modules);
  EXPECT_EQ(space->code()[0].module, nullptr);
}

}  // namespace
}  // namespace offcpu

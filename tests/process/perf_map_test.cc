#include "process/perf_map.h"

#include <grp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "process/address_space.h"
#include "process/proc_file.h"

namespace offcpu {
namespace {

// This process's own; removed at the end.
class PerfMapFileTest : public ::testing::Test {
 protected:
  void SetUp() override { std::ofstream(path_) << "1000 10 f\n"; }
  void TearDown() override { unlink(path_.c_str()); }

  static void ExpectRefused(PerfMapRefusal why) {
    const PerfMap map = OpenPerfMap(getpid());
    EXPECT_EQ(map.code, nullptr);
    EXPECT_EQ(map.refusal, why) << Name(map.refusal);
  }

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
  ExpectRefused(PerfMapRefusal::kNone);
}

TEST_F(PerfMapFileTest, OnlyARegularFileCounts) {
  unlink(path_.c_str());
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  ExpectRefused(PerfMapRefusal::kNotRegular);
}

TEST_F(PerfMapFileTest, ASymbolicLinkIsNotFollowed) {
  const std::string other = path_ + ".other";
  ASSERT_EQ(rename(path_.c_str(), other.c_str()), 0);
  ASSERT_EQ(symlink(other.c_str(), path_.c_str()), 0);
  ExpectRefused(PerfMapRefusal::kSymbolicLink);
  unlink(other.c_str());
}

TEST_F(PerfMapFileTest, AFileWithSeveralNamesMayBeAnybodys) {
  const std::string other = path_ + ".other";
  ASSERT_EQ(link(path_.c_str(), other.c_str()), 0);
  ExpectRefused(PerfMapRefusal::kSeveralNames);
  unlink(other.c_str());
  EXPECT_NE(OpenPerfMap(getpid()).code, nullptr);
}

TEST_F(PerfMapFileTest, WhatEverybodyMayWriteDoesNotCount) {
  ASSERT_EQ(chmod(path_.c_str(), 0646), 0);
  ExpectRefused(PerfMapRefusal::kWritable);
  ASSERT_EQ(chmod(path_.c_str(), 0664), 0);
  EXPECT_NE(OpenPerfMap(getpid()).code, nullptr);
}

TEST_F(PerfMapFileTest, AnotherUsersFileDoesNotCount) {
  if (getuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(chown(path_.c_str(), 12345, 12345), 0);
  ExpectRefused(PerfMapRefusal::kOtherOwner);
}

// Root's files count for others only as far as those may read them.
TEST_F(PerfMapFileTest, RootsFileCountsIfTheProcessMayReadIt) {
  if (getuid() != 0) GTEST_SKIP() << "only root can give files away";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {  // as nobody
    if (setgroups(0, nullptr) != 0 || setgid(65534) != 0 || setuid(65534) != 0) _exit(1);
    pause();
  }
  const std::string path = "/tmp/perf-" + std::to_string(child) + ".map";
  std::ofstream(path) << "1000 10 f\n";
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  for (int i = 0; i < 10'000 &&
                  ReadProcFile("/proc/" + std::to_string(child) + "/status", 1 << 20)->find("\nUid:\t65534\t65534") ==
                      std::string::npos;
       ++i) {
    usleep(1000);
  }
  const PerfMap secret = OpenPerfMap(child);
  EXPECT_EQ(secret.code, nullptr);
  EXPECT_EQ(secret.refusal, PerfMapRefusal::kNotReadable);
  EXPECT_EQ(chmod(path.c_str(), 0644), 0);
  EXPECT_NE(OpenPerfMap(child).code, nullptr);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  unlink(path.c_str());
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

TEST(IsPerfMapPath, HasTheNumberOfAProcess) {
  EXPECT_TRUE(IsPerfMapPath("/tmp/perf-1234.map"));
  EXPECT_TRUE(IsPerfMapPath("perf-1.map"));
  for (const char* path :
       {"", "/tmp/perf-.map", "/tmp/perf-x.map", "/tmp/perf-10.map2", "/tmp/x-10.map", "/perf-1.map/x"})
    EXPECT_FALSE(IsPerfMapPath(path)) << path;
}

TEST_F(PerfMapFileTest, AllCodeThatAProcessMadeIsToldByOneModule) {
  ModuleCache modules;
  const SpanMemory memory(0, {});
  const auto space = BuildAddressSpace(kMadeCode, memory, getpid(), nullptr, modules);
  ASSERT_EQ(space->code().size(), 2u);
  ASSERT_NE(space->code()[0].other, nullptr);
  EXPECT_TRUE(space->code()[0].other->kind() == CodeKind::kPerfMap);
  EXPECT_EQ(space->code()[0].bias, 0u);
  EXPECT_EQ(space->code()[1].other, space->code()[0].other);
  // And stays the same one, or frames of one function would differ.
  EXPECT_TRUE(BuildAddressSpace(kMadeCode, memory, getpid(), space.get(), modules)->SameCode(*space));
}

TEST_F(PerfMapFileTest, WhatIsRefusedIsCounted) {
  ASSERT_EQ(chmod(path_.c_str(), 0646), 0);
  ModuleCache modules;
  const auto space = BuildAddressSpace(kMadeCode, SpanMemory(0, {}), getpid(), nullptr, modules);
  EXPECT_EQ(space->code()[0].other, nullptr);
  EXPECT_EQ(modules.stats().perf_maps_refused[static_cast<size_t>(PerfMapRefusal::kWritable)], 1u);
}

TEST_F(PerfMapFileTest, WithoutItMadeCodeHasNoModule) {
  unlink(path_.c_str());
  ModuleCache modules;
  const auto space = BuildAddressSpace(kMadeCode, SpanMemory(0, {}), getpid(), nullptr, modules);
  EXPECT_EQ(space->code()[0].other, nullptr);
}

}  // namespace
}  // namespace offcpu

#include "runtimes/perf_map/perf_map.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "process/address_space.h"
#include "runtimes/known_runtimes.h"
#include "tests/process/forked_child.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

// A process that this one has forked, with a map that it has written since, and code of both kinds: copies of CPython's
// trampoline at 0x1000, and other code at 0x4000.
class ForkedPerfMapTest : public PerfMapFileTest {
 protected:
  void SetUp() override {
    PerfMapFileTest::SetUp();
    const std::vector<int> function = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3, 0, 0, 0, 0, 0};
    for (size_t at = 0; at < trampolines_.size(); ++at)
      trampolines_[at] = static_cast<std::byte>(function[at % function.size()]);
  }
  void TearDown() override {
    if (child_.has_value()) unlink(PathOf(child_->pid()).c_str());
    PerfMapFileTest::TearDown();
  }
  static std::string PathOf(pid_t pid) { return "/tmp/perf-" + std::to_string(pid) + ".map"; }

  void Write() const { std::ofstream(PathOf(child_->pid())) << "2000 10 g\n"; }

  std::shared_ptr<const AddressSpace> Build(const AddressSpace* previous = nullptr) {
    return BuildAddressSpace(kMadeCode, SpanMemory(0x1000, trampolines_), child_->pid(), previous, modules_, 0,
                             RuntimesReader());
  }
  // The paths of the maps that name the code at `begin`, nearest first.
  std::vector<std::string> MapsAt(uint64_t begin) {
    const auto space = Build();
    std::vector<std::string> paths;
    const MappedCode* code = space->Find(begin);
    for (const CodeObject* map = code->other.get(); map != nullptr; map = map->before_fork.get())
      paths.push_back(map->path);
    return paths;
  }

  std::optional<ForkedChild> child_;
  ModuleCache modules_;
  std::vector<std::byte> trampolines_ = std::vector<std::byte>(0x1000);
};

TEST_F(ForkedPerfMapTest, TrampolinesAreNamedByTheMapOfBeforeTheFork) {
  child_.emplace();
  EXPECT_THAT(MapsAt(0x1000), ElementsAre(path_));
  Write();
  EXPECT_THAT(MapsAt(0x1000), ElementsAre(PathOf(child_->pid()), path_));
}

// Both processes may have made it since.
TEST_F(ForkedPerfMapTest, OtherCodeIsNamedByTheProcesssOwnMap) {
  child_.emplace();
  EXPECT_THAT(MapsAt(0x4000), IsEmpty());
  Write();
  EXPECT_THAT(MapsAt(0x4000), ElementsAre(PathOf(child_->pid())));
}

TEST_F(ForkedPerfMapTest, AProgramOfItsOwnHasNoCodeOfItsParent) {
  child_.emplace(/*execs=*/true);
  EXPECT_THAT(MapsAt(0x1000), IsEmpty());
}

TEST_F(ForkedPerfMapTest, TheMapOfBeforeTheForkHasToBeTrusted) {
  child_.emplace();
  ASSERT_EQ(chmod(path_.c_str(), 0646), 0);
  EXPECT_THAT(MapsAt(0x1000), IsEmpty());
}

TEST_F(ForkedPerfMapTest, MapsStayTheSame) {
  child_.emplace();
  Write();
  const auto space = Build();
  EXPECT_TRUE(Build(space.get())->SameCode(*space));
  unlink(path_.c_str());
  EXPECT_FALSE(Build(space.get())->SameCode(*space));
}

}  // namespace
}  // namespace offcpu

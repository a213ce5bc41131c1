#include "symbolize/symbolizer.h"

#include <asm/unistd_64.h>
#include <dlfcn.h>
#include <elf.h>
#include <sys/auxv.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;

class SymbolizerTest : public ::testing::Test {
 protected:
  std::shared_ptr<Module> AddModule(const std::string& path, const std::string& file, const std::string& build_id) {
    auto module = std::make_shared<Module>();
    module->path = path;
    module->build_id = build_id;
    if (!file.empty()) module->file = OpenFixture(file);
    profile_.code.push_back(module);
    return module;
  }

  void AddStack(std::vector<Frame> frames) {
    profile_.user_stacks.push_back({.stack = {.frames = std::move(frames), .end = EndReason::kComplete}});
  }

  static Frame Exact(const std::shared_ptr<Module>& module, uint64_t address) {
    return {.code = module.get(), .address = address, .source = FrameSource::kRegisters, .exact = true};
  }
  static Frame Return(const std::shared_ptr<Module>& module, uint64_t address) {
    return {.code = module.get(), .address = address, .source = FrameSource::kSFrame, .exact = false};
  }

  std::vector<std::string> Names(const SymbolizerOptions& options) {
    named_ = Symbolize(profile_, options);
    return NamesOf(named_.user_stacks.at(0).frames);
  }
  static std::vector<std::string> NamesOf(const std::vector<NamedFrame>& frames) {
    std::vector<std::string> names;
    for (const NamedFrame& frame : frames) names.emplace_back(frame.name());
    return names;
  }
  std::vector<std::string> Names() {
    return Names({.kallsyms_path = "/dev/null", .debug_directory = directory_.path()});
  }

  TemporaryDirectory directory_;
  Profile profile_;
  NamedProfile named_;
  std::string build_id_ = BuildIdOf(kFull);
};

TEST_F(SymbolizerTest, NamesFramesByTheirCallAddress) {
  auto module = AddModule("/usr/lib/libfixture.so", kFull, build_id_);
  AddStack({Exact(module, 0x1020), Return(module, 0x1020), Return(module, 0x1060), Return(module, 0x1040)});
  // The gap before 0x1040 has no symbol.
  EXPECT_THAT(Names(), ElementsAre("fixture_local", "fixture_sized", "fixture::foo", "libfixture.so+0x103f"));
  EXPECT_TRUE(named_.user_stacks[0].frames[0].named);
  EXPECT_FALSE(named_.user_stacks[0].frames[3].named);
  EXPECT_EQ(named_.user_stacks[0].frames[3].module_name, "libfixture.so");
}

TEST_F(SymbolizerTest, WithoutAModuleOnlyTheAddressIsKnown) {
  AddStack({Exact(nullptr, 0x7f0012345678)});
  EXPECT_THAT(Names(), ElementsAre("[unknown] 0x7f0012345678"));
  EXPECT_EQ(named_.user_stacks[0].frames[0].module_name, "");
}

TEST_F(SymbolizerTest, AModuleWithoutAFileIsShownByOffset) {
  auto module = AddModule("/usr/lib/libgone.so", "", "");
  AddStack({Exact(module, 0x1020)});
  EXPECT_THAT(Names(), ElementsAre("libgone.so+0x1020"));
}

TEST_F(SymbolizerTest, AFileThatWasReplacedIsNotUsed) {
  auto module = AddModule("/usr/lib/libfixture.so", kFull, "abcdef");
  AddStack({Exact(module, 0x1020)});
  EXPECT_THAT(Names(), ElementsAre("libfixture.so+0x1020"));
}

TEST_F(SymbolizerTest, ASeparateFileByBuildIdIsUsedEvenWithoutTheModulesOwn) {
  directory_.Write(".build-id/" + build_id_.substr(0, 2) + "/" + build_id_.substr(2) + ".debug", Contents(kSeparate));
  auto module = AddModule("/usr/lib/libfixture.so", "", build_id_);
  AddStack({Exact(module, 0x1020)});
  EXPECT_THAT(Names(), ElementsAre("fixture_local"));
}

TEST_F(SymbolizerTest, ASeparateFileByLinkIsUsed) {
  auto module = AddModule("/usr/lib/libfixture.so", kStripped, build_id_);
  AddStack({Exact(module, 0x1020)});
  EXPECT_THAT(Names(), ElementsAre("libfixture.so+0x1020"));
  directory_.Write("usr/lib/separate.debug", Contents(kSeparate));
  EXPECT_THAT(Names(), ElementsAre("fixture_local"));
}

TEST_F(SymbolizerTest, AStrippedFileStillNamesWhatItExports) {
  auto module = AddModule("/usr/lib/libfixture.so", kStripped, build_id_);
  AddStack({Exact(module, 0x1000)});
  EXPECT_THAT(Names(), ElementsAre("fixture_sized"));
}

// The dynamic linker is the second source.
TEST_F(SymbolizerTest, NamesFunctionsOfTheVdso) {
  void* handle = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
  uint64_t base = getauxval(AT_SYSINFO_EHDR);
  if (handle == nullptr || base == 0) GTEST_SKIP() << "no vDSO";
  auto function = reinterpret_cast<uint64_t>(dlsym(handle, "__vdso_clock_gettime"));
  ASSERT_NE(function, 0u);
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(base);
  SpanMemory memory(0, std::span(reinterpret_cast<const std::byte*>(base), header->e_shoff + header->e_shnum * 64u));
  auto elf = ElfFile::Parse(memory);
  ASSERT_TRUE(elf.ok());
  auto module = AddModule("[vdso]", "", elf->BuildId());
  AddStack({Exact(module, function - base)});
  EXPECT_THAT(Names(), ElementsAre("clock_gettime"));
  module->build_id = "abcdef";
  EXPECT_THAT(Names(), ElementsAre(::testing::StartsWith("[vdso]+0x")));
}

TEST_F(SymbolizerTest, KernelFramesAreNamedByTheirCallAddress) {
  directory_.Write("kallsyms", "ffffffff81000000 T first\nffffffff81000100 T second\n");
  profile_.kernel_stacks.push_back({.id = 1, .addresses = {0xffffffff81000100, 0xffffffff81000101, 0x10}});
  profile_.kernel_stacks.push_back({.id = 2, .addresses = {}});
  named_ = Symbolize(profile_, {.kallsyms_path = directory_.path() + "/kallsyms"});
  ASSERT_EQ(named_.kernel_stacks.size(), 2u);
  EXPECT_THAT(NamesOf(named_.kernel_stacks[0].frames), ElementsAre("first", "second", "[kernel] 0x10"));
  EXPECT_TRUE(named_.kernel_stacks[0].frames[1].named);
  EXPECT_FALSE(named_.kernel_stacks[0].frames[2].named);
  EXPECT_EQ(named_.kernel_stacks[0].frames[2].lookup_address(), 0xfu);
  EXPECT_TRUE(named_.kernel_stacks[1].is_lost());
}

TEST_F(SymbolizerTest, RowsThatDifferInLostStacksOnlyAreOne) {
  profile_.kernel_stacks = {{.id = 1, .addresses = {}}, {.id = 2, .addresses = {}}};
  for (const uint32_t kernel : {0u, 1u})
    profile_.rows.push_back({{.kernel_stack = kernel}, {.blocked_ns = 7 + kernel}});
  named_ = Symbolize(profile_, {});
  ASSERT_EQ(named_.rows.size(), 1u);
  EXPECT_EQ(named_.rows[0].blocked_ns, 15u);
}

TEST_F(SymbolizerTest, WithoutKallsymsAddressesAreShown) {
  profile_.kernel_stacks.push_back({.id = 1, .addresses = {0xffffffff81000100}});
  for (const char* path : {"/nonexistent", "/dev/null"}) {
    named_ = Symbolize(profile_, {.kallsyms_path = path});
    EXPECT_THAT(NamesOf(named_.kernel_stacks.at(0).frames), ElementsAre("[kernel] 0xffffffff81000100"));
  }
}

TEST_F(SymbolizerTest, StacksKeepTheirPlaces) {
  profile_.user_stacks.push_back({.stack = {}, .missing = NoUserStack::kLost});
  AddStack({Exact(nullptr, 1)});
  named_ = Symbolize(profile_, {});
  ASSERT_EQ(named_.user_stacks.size(), 2u);
  EXPECT_TRUE(named_.user_stacks[0].frames.empty());
  EXPECT_EQ(named_.user_stacks[0].missing, NoUserStack::kLost);
  EXPECT_EQ(named_.user_stacks[1].frames.size(), 1u);
}

// One call makes all of it: nothing is filled in later.
TEST_F(SymbolizerTest, RowsSayWhatTheyWaitForWorkIn) {
  AddStack({Exact(AddModule("/usr/lib/libfixture.so", kFull, build_id_), 0x1020)});
  profile_.host = "web1";
  profile_.processes.push_back({.key = {.pid = 1}, .name = "server", .container = ""});
  profile_.comms.emplace_back("worker");
  profile_.kernel_stacks.push_back({.id = 7, .addresses = {0xffffffff81000100}});
  profile_.rows.push_back({{.syscall = __NR_read}, {.count = 1, .blocked_ns = 5}});
  SymbolizerOptions options = {.kallsyms_path = "/dev/null", .debug_directory = directory_.path()};
  named_ = Symbolize(profile_, options);
  EXPECT_FALSE(named_.idle_is_told);
  EXPECT_EQ(named_.rows.at(0).idle, "");
  IdlePatterns patterns;
  ASSERT_TRUE(AddIdlePatterns("[a pool]\nsyscall = read\nstack = fixture_local\n", "f", &patterns).ok());
  options.idle = &patterns;
  named_ = Symbolize(profile_, options);
  EXPECT_TRUE(named_.idle_is_told);
  EXPECT_EQ(named_.rows.at(0).idle, "a pool");
  EXPECT_EQ(named_.rows[0].blocked_ns, 5u);
  EXPECT_EQ(named_.host, "web1");
  EXPECT_EQ(named_.kernel_stacks.at(0).id, 7u);
}

TEST_F(SymbolizerTest, WithACacheNothingIsLookedUpTwice) {
  auto module = AddModule("/usr/lib/libfixture.so", kFull, build_id_);
  AddStack({Exact(module, 0x1020)});
  profile_.kernel_stacks = {{.id = 1, .addresses = {0xffffffff81000010}}};
  const std::string kallsyms = directory_.path() + "/kallsyms";
  std::ofstream(kallsyms) << "ffffffff81000000 T first\nffffffff81000020 T second\n";
  const SymbolizerOptions options = {
      .kallsyms_path = kallsyms, .modules_path = "/dev/null", .debug_directory = directory_.path()};
  NameCache cache(1 << 20);
  const NamedProfile before = Symbolize(profile_, options, &cache);
  module->file.reset();
  std::filesystem::remove(kallsyms);
  const NamedProfile after = Symbolize(profile_, options, &cache);
  EXPECT_EQ(after.user_stacks[0].frames[0].name(), before.user_stacks[0].frames[0].name());
  EXPECT_TRUE(after.user_stacks[0].frames[0].named);
  EXPECT_EQ(after.user_stacks[0].frames[0].module_name, "libfixture.so");
  EXPECT_EQ(after.kernel_stacks[0].frames[0].name(), "first");
  EXPECT_FALSE(Symbolize(profile_, options).user_stacks[0].frames[0].named)
      << "without it they are not to be found any more";
}

// A file that could not be opened, and one that is no ELF file. The summary says so.
TEST_F(SymbolizerTest, FilesThatCannotBeReadAreCounted) {
  auto unopened = AddModule("/usr/lib/libfixture.so", kFull, build_id_);
  unopened->file.reset();
  AddStack({Exact(unopened, 0x1020)});
  AddStack({Exact(AddModule("/usr/lib/libother.so", "/dev/null", build_id_), 0x1020)});
  AddStack({Exact(AddModule("/usr/lib/libfull.so", kFull, build_id_), 0x1020)});
  const SymbolizerOptions options = {.kallsyms_path = "/dev/null", .debug_directory = directory_.path()};
  const NamedProfile named = Symbolize(profile_, options);
  EXPECT_TRUE(named.user_stacks[2].frames[0].named);
  ASSERT_EQ(named.stats.losses.size(), 1u);
  EXPECT_EQ(named.stats.losses[0].reason, "symbols of a file not readable");
  EXPECT_EQ(named.stats.losses[0].count, 2u);
}

// What hangs costs its names, is counted, and is not asked for again and again; and may be read another time.
TEST_F(SymbolizerTest, WhatIsNotReadInTimeHasNoNames) {
  for (int i = 0; i < 5; ++i) {
    auto module = AddModule("/usr/lib/libfixture.so", kFull, build_id_);
    module->memory = MemoryLease(nullptr, 1000);
    AddStack({Exact(module, 0x1020)});
  }
  auto other = AddModule("/usr/lib/libother.so", kFull, build_id_);
  AddStack({Exact(other, 0x1020)});
  std::vector<uid_t> asked;
  std::vector<std::function<void()>> late;
  SymbolizerOptions options = {.kallsyms_path = "/dev/null", .debug_directory = directory_.path()};
  options.timed_read = [&](const ReadSubject& subject, std::function<void()> read) {
    const uid_t owner = subject.owner;
    asked.push_back(owner);
    if (owner != 1000) read();
    if (owner == 1000) late.push_back(read);
    return owner != 1000;
  };
  NameCache cache(1 << 20);
  const NamedProfile names = Symbolize(profile_, options, &cache);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(names.user_stacks[i].frames[0].name(), "libfixture.so+0x1020");
  EXPECT_TRUE(names.user_stacks[5].frames[0].named);
  EXPECT_EQ(std::count(asked.begin(), asked.end(), 1000u), 2);
  ASSERT_EQ(names.stats.losses.size(), 1u);
  EXPECT_EQ(names.stats.losses[0].reason, "names of a module not read in time");
  EXPECT_EQ(names.stats.losses[0].count, 5u);
  for (const auto& read : late) read();  // owns what it touches
  options.timed_read = nullptr;
  EXPECT_TRUE(Symbolize(profile_, options, &cache).user_stacks[0].frames[0].named);
}

}  // namespace
}  // namespace offcpu

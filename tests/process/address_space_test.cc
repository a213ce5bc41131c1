#include "process/address_space.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <ctime>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "process/file_hash.h"
#include "tests/process/elf/elf_bytes.h"

namespace offcpu {
namespace {

constexpr uint64_t kBase = 0x7f0000000000;

MappedCode Code(uint64_t begin, uint64_t end, uint64_t inode = 0) {
  MappedCode code;
  code.begin = begin;
  code.end = end;
  code.inode = inode;
  return code;
}

TEST(AddressSpaceTest, Find) {
  AddressSpace space({Code(0x1000, 0x2000), Code(0x2000, 0x3000), Code(0x5000, 0x6000)});
  EXPECT_EQ(space.Find(0xfff), nullptr);
  EXPECT_EQ(space.Find(0x1000)->begin, 0x1000u);
  EXPECT_EQ(space.Find(0x1fff)->begin, 0x1000u);
  EXPECT_EQ(space.Find(0x2000)->begin, 0x2000u);
  EXPECT_EQ(space.Find(0x3000), nullptr);
  EXPECT_EQ(space.Find(0x5fff)->begin, 0x5000u);
  EXPECT_EQ(space.Find(UINT64_MAX), nullptr);
  EXPECT_EQ(AddressSpace({}).Find(0), nullptr);
}

TEST(AddressSpaceTest, SameCode) {
  AddressSpace a({Code(0x1000, 0x2000, 1), Code(0x2000, 0x3000, 2), Code(0x5000, 0x6000, 3)});
  AddressSpace b({Code(0x1000, 0x2000, 1), Code(0x2000, 0x3000, 7), Code(0x5000, 0x7000, 3)});
  EXPECT_TRUE(a.SameCode(a));
  EXPECT_FALSE(a.SameCode(b));
}

// A process that has the hand-made object at kBase.
class BuildAddressSpaceTest : public ::testing::Test {
 protected:
  BuildAddressSpaceTest() { Load(kBase); }

  void Load(uint64_t base) {
    for (const FileMapping& f : elf.MapAt(base, &memory)) {
      Mapping m;
      m.begin = f.begin;
      m.end = f.end;
      m.offset = f.offset;
      m.executable = f.executable;
      m.inode = 77;
      m.path = "/lib/x.so";
      maps.push_back(m);
    }
  }
  Mapping& AddAnonymous(uint64_t begin, uint64_t end, const std::string& path = "") {
    Mapping m;
    m.begin = begin;
    m.end = end;
    m.executable = true;
    m.path = path;
    return *maps.insert(std::find_if(maps.begin(), maps.end(), [&](const Mapping& o) { return o.begin > begin; }), m);
  }
  std::shared_ptr<const AddressSpace> Build(const AddressSpace* previous = nullptr) {
    return BuildAddressSpace(maps, memory, 0, previous, cache);
  }

  ElfBytes elf;
  PieceMemory memory;
  std::vector<Mapping> maps;
  ModuleCache cache;
};

TEST_F(BuildAddressSpaceTest, OnlyWhatMayRun) {
  auto space = Build();
  ASSERT_EQ(space->code().size(), 1u);
  const MappedCode& code = space->code()[0];
  EXPECT_EQ(code.begin, kBase + 0x1000);
  EXPECT_EQ(code.end, kBase + 0x2000);
  EXPECT_EQ(code.bias, kBase);
  EXPECT_EQ(code.inode, 77u);
  EXPECT_EQ(code.offset, 0x1000u);
  ASSERT_NE(code.module, nullptr);
  EXPECT_EQ(code.module->path, "/lib/x.so");
  EXPECT_EQ(code.module->build_id, "deadbe0f");
}

TEST_F(BuildAddressSpaceTest, OneModuleForTwoLoads) {
  Load(kBase + 0x100000);
  auto space = Build();
  ASSERT_EQ(space->code().size(), 2u);
  EXPECT_EQ(space->code()[0].module, space->code()[1].module);
  EXPECT_EQ(space->code()[1].bias, kBase + 0x100000);
}

TEST_F(BuildAddressSpaceTest, PreviousIsTakenWhereItHolds) {
  auto before = Build();
  cache = ModuleCache();  // what is read anew would be another module
  auto after = Build(before.get());
  EXPECT_TRUE(before->SameCode(*after));
}

// A file was replaced by one that got its inode number, and mapped to the same place.
TEST_F(BuildAddressSpaceTest, PreviousDoesNotHoldForOtherContent) {
  auto before = Build();
  elf.Put(0x210, {0xff});  // the build id
  elf.MapAt(kBase, &memory);
  auto after = Build(before.get());
  EXPECT_FALSE(before->SameCode(*after));
  EXPECT_EQ(after->code()[0].module->build_id, "ffadbe0f");
}

// The same process with a file of ours for the object.
class BuildFromFileTest : public BuildAddressSpaceTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(file_);
    ASSERT_TRUE(Write());
    struct stat st;
    ASSERT_EQ(fstat(file_.get(), &st), 0);
    for (Mapping& m : maps) {
      m.inode = st.st_ino;
      m.dev_major = major(st.st_dev);
      m.dev_minor = minor(st.st_dev);
      m.path = path_;
    }
  }
  void TearDown() override { unlink(path_.c_str()); }

  bool Write() const {
    const std::vector<std::byte> all = elf.File();
    return pwrite(file_.get(), all.data(), all.size(), 0) == static_cast<ssize_t>(all.size());
  }
  std::shared_ptr<const AddressSpace> BuildWithFile(const AddressSpace* previous = nullptr) {
    return BuildAddressSpace(maps, memory, getpid(), previous, cache);
  }

  const std::string path_ = ::testing::TempDir() + "address_space_test-" + std::to_string(getpid());
  const OwnedFd file_{open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)};
};

// A program was written anew to the same file, with the same headers.
TEST_F(BuildFromFileTest, PreviousDoesNotHoldForAFileThatWasWrittenTo) {
  auto before = BuildWithFile();
  ASSERT_EQ(before->code().size(), 1u);
  ASSERT_TRUE(before->code()[0].module->file);
  EXPECT_EQ(before->code()[0].module->file_hash, FileHash(before->code()[0].module->file));
  EXPECT_EQ(before->code()[0].module->file_hash.size(), 32u);
  EXPECT_EQ(before->code()[0].module->eh_frame.bytes[8], std::byte{1});
  cache = ModuleCache();  // what is read anew would be another module
  EXPECT_TRUE(before->SameCode(*BuildWithFile(before.get())));
  elf.Put(0x408, {9});  // in .eh_frame
  elf.MapAt(kBase, &memory);
  const FileIdentity was = IdentityOf(file_);
  while (IdentityOf(file_) == was) ASSERT_TRUE(Write());  // the clock of a file system may be a coarse one
  auto after = BuildWithFile(before.get());
  ASSERT_EQ(after->code().size(), 1u);
  EXPECT_EQ(after->code()[0].head_hash, before->code()[0].head_hash);
  EXPECT_FALSE(before->SameCode(*after));
  EXPECT_EQ(after->code()[0].module->eh_frame.bytes[8], std::byte{9});
  cache = ModuleCache();
  EXPECT_TRUE(after->SameCode(*BuildWithFile(after.get())));
}

TEST_F(BuildAddressSpaceTest, GeneratedCode) {
  AddAnonymous(kBase + 0x10000, kBase + 0x20000);
  AddAnonymous(kBase + 0x20000, kBase + 0x30000, "[anon:code]");
  auto space = Build();
  ASSERT_EQ(space->code().size(), 3u);
  EXPECT_EQ(space->code()[1].module, nullptr);
  EXPECT_EQ(space->code()[2].module, nullptr);
}

TEST_F(BuildAddressSpaceTest, GeneratedCodeInAMemoryFile) {
  Mapping& m = AddAnonymous(kBase + 0x10000, kBase + 0x20000, "/memfd:code");
  m.inode = 5;
  m.deleted = true;
  EXPECT_EQ(Build()->Find(kBase + 0x10000)->module, nullptr);
}

TEST_F(BuildAddressSpaceTest, SpecialMappingsAreNotGeneratedCode) {
  AddAnonymous(kBase + 0x10000, kBase + 0x20000, "[uprobes]");
  AddAnonymous(0xffffffffff600000, 0xffffffffff601000, "[vsyscall]");
  EXPECT_EQ(Build()->code().size(), 1u);
}

TEST_F(BuildAddressSpaceTest, TextMovedToAnonymousMemory) {
  auto whole = Build()->code()[0].module;
  maps.erase(maps.begin() + 1);
  AddAnonymous(kBase + 0x1000, kBase + 0x2000);
  auto space = Build();
  ASSERT_EQ(space->code().size(), 1u);
  EXPECT_EQ(space->code()[0].module, whole);
  EXPECT_EQ(space->code()[0].bias, kBase);
}

// To huge pages, a memfd, or a file of hugetlbfs. Only the place is compared here, where the module has no file.
TEST_F(BuildAddressSpaceTest, TextMovedToAFileThatStandsForMemory) {
  auto whole = Build()->code()[0].module;
  maps.erase(maps.begin() + 1);
  const std::vector<Mapping> without = maps;
  for (const std::string path : {"/anon_hugepage", "/memfd:text", "/dev/hugepages/text"}) {
    maps = without;
    Mapping& m = AddAnonymous(kBase + 0x1000, kBase + 0x2000, path);
    m.inode = 5;
    m.deleted = true;
    auto space = Build();
    ASSERT_EQ(space->code().size(), 1u);
    EXPECT_EQ(space->code()[0].module, whole) << path;
    EXPECT_EQ(space->code()[0].bias, kBase);
  }
}

TEST_F(BuildAddressSpaceTest, MemoryBesideTheTextIsNotMovedText) {
  AddAnonymous(kBase + 0x2000, kBase + 0x3000);
  EXPECT_EQ(Build()->code()[1].module, nullptr) << "between segments";
}

TEST_F(BuildAddressSpaceTest, PartOfTheTextMoved) {
  elf.segments[ElfBytes::kText].p_memsz = 0x1100;  // two pages
  elf.MapAt(kBase, &memory);
  AddAnonymous(kBase + 0x2000, kBase + 0x3000);
  auto space = Build();
  ASSERT_EQ(space->code().size(), 2u);
  EXPECT_NE(space->code()[1].module, nullptr);
  EXPECT_EQ(space->code()[0].module, space->code()[1].module);
}

// As V8 does with its built-in functions. The same addresses of the module, wherever the copy is.
TEST_F(BuildAddressSpaceTest, PieceOfTheTextMappedOnceMore) {
  for (const uint64_t place : {kBase - 0x100000, kBase + 0x100000}) {
    const std::vector<Mapping> before = maps;
    Mapping& copy = AddAnonymous(place, place + 0x1000, "/lib/x.so");
    copy.inode = 77;
    copy.offset = 0x1000;
    auto space = Build();
    const MappedCode* code = space->Find(place);
    ASSERT_NE(code, nullptr);
    EXPECT_EQ(code->module, space->Find(kBase + 0x1000)->module);
    EXPECT_EQ(place - code->bias, 0x1000u) << "its link-time address";
    EXPECT_EQ(space->Find(kBase + 0x1000)->bias, kBase);
    auto again = Build(space.get());
    EXPECT_TRUE(again->SameCode(*space));
    maps = before;
  }
}

// They come before the load itself, and cost no more than one attempt each to find it.
TEST_F(BuildAddressSpaceTest, ManyPiecesOfTheText) {
  constexpr uint64_t kCopies = 2000;
  for (uint64_t i = 0; i < kCopies; ++i) {
    Mapping& copy =
        AddAnonymous(kBase - 0x10000000 + i * 0x2000, kBase - 0x10000000 + i * 0x2000 + 0x1000, "/lib/x.so");
    copy.inode = 77;
    copy.offset = 0x1000;
  }
  auto space = Build();
  ASSERT_EQ(space->code().size(), kCopies + 1);
  for (const MappedCode& code : space->code()) {
    EXPECT_EQ(code.module, space->code().back().module);
    EXPECT_EQ(code.begin - code.bias, 0x1000u);
  }
  EXPECT_FALSE(space->code().back().module->code.empty());
}

// More than any program needs, and as many as the kernel allows by default.
TEST_F(BuildAddressSpaceTest, TensOfThousandsOfPiecesAreCounted) {
  constexpr uint64_t kPieces = 60'000;
  const uint64_t above = kBase + 0x10000000;
  for (uint64_t i = 0; i < kPieces; ++i) {
    Mapping& piece = maps.emplace_back(maps.front());
    piece.begin = above + i * 0x2000;
    piece.end = piece.begin + 0x1000;
    piece.executable = true;
    piece.offset = 0x5000;  // of no segment
  }
  const std::clock_t begin = std::clock();
  auto space = Build();
  EXPECT_EQ(space->code().size(), kMaxMappedCode);
  EXPECT_FALSE(space->is_whole());
  EXPECT_EQ(cache.stats().mappings_left_out, kPieces + 1 - kMaxMappedCode);
  // A tenth of a second of CPU time; to compare each with all took minutes.
  EXPECT_LT(std::clock() - begin, 10 * CLOCKS_PER_SEC);
}

TEST_F(BuildAddressSpaceTest, AsManyMappingsAsAllowedAreTheWhole) {
  const auto add_piece = [this] {
    Mapping& piece = maps.emplace_back(maps.front());
    piece.begin = kBase + 0x10000000 + maps.size() * 0x2000;
    piece.end = piece.begin + 0x1000;
    piece.executable = true;
    piece.offset = 0x5000;  // of no segment
  };
  for (size_t code = 1; code < kMaxMappedCode; ++code) add_piece();  // beside the text
  auto space = Build();
  EXPECT_EQ(space->code().size(), kMaxMappedCode);
  EXPECT_TRUE(space->is_whole());
  add_piece();
  space = Build();
  EXPECT_EQ(space->code().size(), kMaxMappedCode);
  EXPECT_FALSE(space->is_whole());
}

TEST_F(BuildAddressSpaceTest, NoneIfThereIsNoRoomForItsList) {
  cache = ModuleCache({.modules = 10, .memory_bytes = 100, .files = 10});
  EXPECT_EQ(Build(), nullptr);
  EXPECT_GT(cache.stats().memory_refused, 0u);
  EXPECT_EQ(cache.budget().bytes, 0u);
}

// A table that there was no room for may have some the next time.
TEST_F(BuildAddressSpaceTest, WhatWasLeftOutIsReadAgain) {
  auto before = Build();
  const_cast<Module&>(*before->code()[0].module).over_budget = true;
  cache = ModuleCache();
  EXPECT_FALSE(Build(before.get())->code()[0].module->over_budget);
}

TEST_F(BuildAddressSpaceTest, NotAPieceOfTheText) {
  struct {
    uint64_t offset;
    uint64_t bytes;
    uint64_t inode;
  } others[] = {{0x1000, 0x1000, 78},   // of another file
                {0x2000, 0x1000, 77},   // of its data
                {0x1000, 0x2000, 77}};  // and of what is behind the text
  for (const auto& other : others) {
    const std::vector<Mapping> before = maps;
    Mapping& m = AddAnonymous(kBase + 0x100000, kBase + 0x100000 + other.bytes, "/lib/x.so");
    m.inode = other.inode;
    m.offset = other.offset;
    auto space = Build();
    ASSERT_NE(space->Find(m.begin), nullptr);
    EXPECT_TRUE(space->Find(m.begin)->module->code.empty()) << "not known";
    maps = before;
  }
}

TEST_F(BuildAddressSpaceTest, UnreadableModuleHasItsPath) {
  memory.Put(kBase, {});
  auto space = Build();
  ASSERT_EQ(space->code().size(), 1u);
  const MappedCode& code = space->code()[0];
  ASSERT_NE(code.module, nullptr);
  EXPECT_EQ(code.module->path, "/lib/x.so");
  EXPECT_TRUE(code.module->code.empty());
  EXPECT_EQ(code.begin - code.bias, 0x1000u) << "told by the offset in the file";
  EXPECT_EQ(cache.stats().unreadable, 1u);
  EXPECT_TRUE(space->SameCode(*Build(space.get()))) << "and is not another one each time";
  elf.MapAt(kBase, &memory);
  EXPECT_FALSE(Build(space.get())->code()[0].module->code.empty()) << "asked again";
}

// A file of another form, as .NET's: no loss, and not one that might have tables.
TEST_F(BuildAddressSpaceTest, AFileThatIsNoElfObject) {
  memory.Put(kBase, {std::byte{'M'}, std::byte{'Z'}, std::byte{0x90}, std::byte{0}});
  auto space = Build();
  ASSERT_EQ(space->code().size(), 1u);
  const MappedCode& code = space->code()[0];
  EXPECT_EQ(code.module, nullptr);
  ASSERT_NE(code.other, nullptr);
  EXPECT_EQ(code.other->kind(), CodeKind::kOtherFile);
  EXPECT_EQ(code.other->path, "/lib/x.so");
  EXPECT_EQ(cache.stats().unreadable, 0u);
  EXPECT_TRUE(space->SameCode(*Build(space.get())));
  memory.Put(kBase, {});
  EXPECT_EQ(Build()->code()[0].other, nullptr) << "it may be anything";
}

// Ourselves, compared with what the dynamic linker and the kernel tell.
TEST(LoadAddressSpaceTest, ThisProcess) {
  ModuleCache cache;
  auto space = LoadAddressSpace(getpid(), nullptr, cache);
  ASSERT_TRUE(space.ok()) << space.status();
  auto each = [](dl_phdr_info* info, size_t, void* data) {
    const auto& loaded = *static_cast<const AddressSpace*>(data);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& p = info->dlpi_phdr[i];
      if (p.p_type != PT_LOAD || !(p.p_flags & PF_X)) continue;
      const MappedCode* code = loaded.Find(info->dlpi_addr + p.p_vaddr);
      EXPECT_NE(code, nullptr) << info->dlpi_name;
      if (code == nullptr || code->module == nullptr) continue;
      EXPECT_EQ(code->bias, info->dlpi_addr) << info->dlpi_name;
      EXPECT_FALSE(code->module->eh_frame.bytes.empty()) << info->dlpi_name;
    }
    return 0;
  };
  dl_iterate_phdr(each, const_cast<AddressSpace*>(space->get()));
  const uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
  const MappedCode* code = (*space)->Find(vdso);
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->module->path, "[vdso]");
  EXPECT_EQ(code->bias, vdso);
  EXPECT_EQ(cache.stats().unreadable, 0u);
  EXPECT_EQ((*space)->Find(reinterpret_cast<uint64_t>(&each) + (uint64_t{1} << 60)), nullptr);
  auto again = LoadAddressSpace(getpid(), space->get(), cache);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE((*space)->SameCode(**again));
}

TEST(LoadAddressSpaceTest, FilesAreHeld) {
  ModuleCache cache;
  auto space = LoadAddressSpace(getpid(), nullptr, cache);
  ASSERT_TRUE(space.ok());
  const MappedCode* code = (*space)->Find(reinterpret_cast<uint64_t>(&getauxval));
  ASSERT_NE(code, nullptr);
  EXPECT_TRUE(code->module->file) << code->module->path;
}

TEST(LoadAddressSpaceTest, NoSuchProcess) {
  ModuleCache cache;
  EXPECT_EQ(LoadAddressSpace(1 << 23, nullptr, cache).status().code(), absl::StatusCode::kNotFound);
}

TEST(LoadAddressSpaceTest, KernelThreadHasNoMemoryMap) {
  if (geteuid() != 0) GTEST_SKIP() << "may not look";
  ModuleCache cache;
  EXPECT_EQ(LoadAddressSpace(2, nullptr, cache).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace offcpu

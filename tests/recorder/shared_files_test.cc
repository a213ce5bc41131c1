#include "recorder/shared_files.h"

#include <fcntl.h>
#include <sys/sysmacros.h>

#include <memory>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

// Device 1:6 with generation 9.
constexpr CodeMapping kMapping = {
    .begin = 0x7000, .end = 0x9000, .offset = 0x1000, .inode = 5, .device = 0x9'00100006, .changed_ns = 7};

MappedCode PieceOf(bool matches_file) {
  auto module = std::make_shared<Module>();
  module->matches_file = matches_file;
  module->identity = {.device = makedev(1, 6), .inode = 5, .bytes = 8, .changed_ns = 7};
  module->file = OwnedFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  // Linked at 0x1000: the mapping's first byte is there.
  return {.begin = 0x7000, .end = 0x9000, .module = module, .bias = 0x6000};
}

TEST(SharedFiles, OneFileServesEveryAddress) {
  SharedFiles files(10);
  files.Learn(kMapping, PieceOf(true));
  CodeMapping elsewhere = kMapping;
  elsewhere.begin = 0x55000;
  elsewhere.end = 0x57000;
  const std::optional<MappedCode> found = files.Find(elsewhere);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->begin, 0x55000u);
  EXPECT_EQ(found->end, 0x57000u);
  EXPECT_EQ(0x55000 - found->bias, 0x1000u) << "the same link-time address";
}

TEST(SharedFiles, AnyDifferenceIsAnotherFile) {
  SharedFiles files(10);
  files.Learn(kMapping, PieceOf(true));
  for (uint64_t CodeMapping::*field :
       {&CodeMapping::offset, &CodeMapping::inode, &CodeMapping::device, &CodeMapping::changed_ns}) {
    CodeMapping other = kMapping;
    other.*field += 1;
    EXPECT_FALSE(files.Find(other).has_value());
  }
}

// A process may have written to its copy of the tables; others must not be walked with them.
TEST(SharedFiles, AChangedCopyIsNotLearned) {
  SharedFiles files(10);
  files.Learn(kMapping, PieceOf(false));
  EXPECT_FALSE(files.Find(kMapping).has_value());
}

// What keeps device and inode from becoming another file's is that it is held open.
TEST(SharedFiles, OnlyAFileThatIsHeldOpenIsLearned) {
  SharedFiles files(10);
  MappedCode piece = PieceOf(true);
  const_cast<Module&>(*piece.module).file.reset();
  files.Learn(kMapping, piece);
  EXPECT_FALSE(files.Find(kMapping).has_value());
}

// A process may exchange what it has mapped between the two readings that a snapshot is made of.
TEST(SharedFiles, TheFileOfAnotherMappingIsNotLearned) {
  const auto learns = [](const FileIdentity& identity) {
    SharedFiles files(10);
    MappedCode piece = PieceOf(true);
    const_cast<Module&>(*piece.module).identity = identity;
    files.Learn(kMapping, piece);
    return files.Find(kMapping).has_value();
  };
  EXPECT_TRUE(learns({.device = makedev(1, 6), .inode = 5, .changed_ns = 7}));
  EXPECT_FALSE(learns({.device = makedev(1, 7), .inode = 5, .changed_ns = 7}));
  EXPECT_FALSE(learns({.device = makedev(1, 6), .inode = 6, .changed_ns = 7}));
  EXPECT_FALSE(learns({.device = makedev(1, 6), .inode = 5, .changed_ns = 8}));
  EXPECT_TRUE(learns({.device = makedev(0, 40), .inode = 0x1'00000000'0005, .changed_ns = 7, .is_layered = true}));
  EXPECT_FALSE(learns({.device = makedev(0, 40), .inode = 6, .changed_ns = 7, .is_layered = true}));
}

TEST(SharedFiles, MemoryWithoutAFileIsNotLearned) {
  SharedFiles files(10);
  CodeMapping anonymous = kMapping;
  anonymous.inode = 0;
  files.Learn(anonymous, PieceOf(true));
  EXPECT_FALSE(files.Find(anonymous).has_value());
  CodeMapping without_time = kMapping;
  without_time.changed_ns = 0;
  files.Learn(without_time, PieceOf(true));
  EXPECT_FALSE(files.Find(without_time).has_value());
  MappedCode no_module = PieceOf(true);
  no_module.module = nullptr;
  files.Learn(kMapping, no_module);
  EXPECT_FALSE(files.Find(kMapping).has_value());
}

constexpr CodeMapping kVdso = {.begin = 0x7000, .end = 0x9000, .offset = 0x99, .device = kVdsoDevice};

TEST(SharedFiles, TheVdsoIsThatOfEveryProcessOfItsKind) {
  SharedFiles files(1);
  files.LearnVdso(kVdso, PieceOf(false));
  files.Learn(kMapping, PieceOf(true));
  files.Learn({.begin = 1, .end = 2, .inode = 5, .device = 6, .changed_ns = 7}, PieceOf(true));
  CodeMapping elsewhere = kVdso;
  elsewhere.begin += 0x3000;
  elsewhere.end += 0x3000;
  const std::optional<MappedCode> found = files.Find(elsewhere);
  ASSERT_TRUE(found.has_value()) << "it is not forgotten for others";
  EXPECT_EQ(found->begin, 0xa000u);
  EXPECT_EQ(found->bias, 0x9000u);
  CodeMapping of_32_bits = kVdso;
  of_32_bits.offset += 1;
  EXPECT_FALSE(files.Find(of_32_bits).has_value());
}

// A process that is looked at may have written to its own.
TEST(SharedFiles, TheVdsoOfATargetIsNotLearned) {
  SharedFiles files(10);
  files.Learn(kVdso, PieceOf(true));
  EXPECT_FALSE(files.Find(kVdso).has_value());
}

TEST(SharedFiles, ForgetsAllAtTheLimit) {
  SharedFiles files(2);
  for (uint64_t page = 1; page <= 3; ++page) {
    CodeMapping mapping = kMapping;
    mapping.offset = page * 0x1000;
    files.Learn(mapping, PieceOf(true));
  }
  EXPECT_EQ(files.pieces(), 1u);
}

}  // namespace
}  // namespace offcpu

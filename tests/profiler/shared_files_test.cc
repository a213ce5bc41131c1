#include "profiler/shared_files.h"

#include <memory>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

constexpr CodeMapping kMapping = {
    .begin = 0x7000, .end = 0x9000, .offset = 0x1000, .inode = 5, .device = 6, .modified_ns = 7};

MappedCode PieceOf(bool matches_file) {
  auto module = std::make_shared<Module>();
  module->matches_file = matches_file;
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
       {&CodeMapping::offset, &CodeMapping::inode, &CodeMapping::device, &CodeMapping::modified_ns}) {
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

TEST(SharedFiles, MemoryWithoutAFileIsNotLearned) {
  SharedFiles files(10);
  CodeMapping anonymous = kMapping;
  anonymous.inode = 0;
  files.Learn(anonymous, PieceOf(true));
  EXPECT_FALSE(files.Find(anonymous).has_value());
  CodeMapping without_time = kMapping;
  without_time.modified_ns = 0;
  files.Learn(without_time, PieceOf(true));
  EXPECT_FALSE(files.Find(without_time).has_value());
  MappedCode no_module = PieceOf(true);
  no_module.module = nullptr;
  files.Learn(kMapping, no_module);
  EXPECT_FALSE(files.Find(kMapping).has_value());
}

TEST(SharedFiles, ForgetsAllAtTheLimit) {
  SharedFiles files(2);
  for (uint64_t inode = 1; inode <= 3; ++inode) {
    CodeMapping mapping = kMapping;
    mapping.inode = inode;
    files.Learn(mapping, PieceOf(true));
  }
  EXPECT_EQ(files.pieces(), 1u);
}

}  // namespace
}  // namespace offcpu

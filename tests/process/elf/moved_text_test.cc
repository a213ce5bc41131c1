#include "process/elf/moved_text.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "os/owned_fd.h"
#include "tests/process/elf/elf_bytes.h"

namespace offcpu {
namespace {

constexpr uint64_t kBias = 0x7f0000000000;

// The hand-made object, whose text says where it is, and a process that has it at kBias.
class MovedTextTest : public ::testing::Test {
 protected:
  MovedTextTest() {
    for (size_t i = 0x1000; i < 0x1500; ++i) elf_.bytes[i] = static_cast<std::byte>(i * 7 / 16);
    module_.code = {{0x1000, 0x1500}};
    const std::vector<std::byte> file = elf_.File();
    module_.file = OwnedFd(memfd_create("x.so", MFD_CLOEXEC));
    EXPECT_EQ(write(module_.file.get(), file.data(), file.size()), static_cast<ssize_t>(file.size()));
    text_.assign(file.begin() + 0x1000, file.begin() + 0x2000);
  }

  bool IsMoved(uint64_t begin = 0x1000, uint64_t end = 0x2000) {
    PieceMemory memory;
    memory.Put(kBias + 0x1000, text_);
    return IsMovedText(module_, memory, kBias + begin, kBias + end, kBias);
  }

  ElfBytes elf_;
  Module module_;
  std::vector<std::byte> text_;
};

TEST_F(MovedTextTest, SaysWhatTheFileSays) { EXPECT_TRUE(IsMoved()); }

TEST_F(MovedTextTest, AFewPlacesMayHaveChanged) {
  for (const size_t at : {0, 0x200, 0x4f0}) text_[at] = std::byte{0xcc};  // of a debugger
  EXPECT_TRUE(IsMoved());
}

TEST_F(MovedTextTest, OtherCodeAtItsPlaceIsNot) {
  for (std::byte& byte : text_) byte ^= std::byte{1};
  EXPECT_FALSE(IsMoved());
  text_.resize(0x20);
  EXPECT_FALSE(IsMoved()) << "most of it cannot be read";
}

TEST_F(MovedTextTest, LiesInASegmentOfCode) {
  EXPECT_FALSE(IsMoved(0x0, 0x2000));
  EXPECT_FALSE(IsMoved(0x1000, 0x3000));
  EXPECT_FALSE(IsMoved(0x2000, 0x3000));
}

TEST_F(MovedTextTest, WithoutAFileThePlaceDecides) {
  module_.file.reset();
  for (std::byte& byte : text_) byte ^= std::byte{1};
  EXPECT_TRUE(IsMoved());
}

}  // namespace
}  // namespace offcpu

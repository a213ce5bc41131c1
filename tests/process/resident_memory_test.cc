#include "process/resident_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace offcpu {
namespace {

// Two pages of ours, of which only the first was ever touched.
class ResidentMemoryTest : public ::testing::Test {
 protected:
  ResidentMemoryTest() {
    pages_ = static_cast<std::byte*>(
        mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    madvise(pages_, 2 * kPage, MADV_NOHUGEPAGE);
    std::memset(pages_, 7, kPage);
  }
  ~ResidentMemoryTest() override { munmap(pages_, 2 * kPage); }

  static constexpr size_t kPage = 4096;
  std::byte* pages_ = nullptr;
  const ResidentMemory memory_{getpid()};
};

TEST_F(ResidentMemoryTest, ReadsWhatIsInMemory) {
  const auto begin = reinterpret_cast<uint64_t>(pages_);
  EXPECT_EQ(memory_.ReadValue<uint32_t>(begin), 0x07070707u);
  EXPECT_EQ(memory_.ReadValue<uint32_t>(begin + kPage - 4), 0x07070707u);
}

TEST_F(ResidentMemoryTest, LeavesThePageThatIsNotThereAsItIs) {
  const auto begin = reinterpret_cast<uint64_t>(pages_);
  EXPECT_EQ(memory_.ReadValue<uint32_t>(begin + kPage), std::nullopt);
  EXPECT_EQ(memory_.ReadValue<uint32_t>(begin + kPage - 2), std::nullopt) << "half of it";
  unsigned char is_there[2] = {};
  ASSERT_EQ(mincore(pages_, 2 * kPage, is_there), 0);
  EXPECT_EQ(is_there[1] & 1, 0) << "reading has not made it";
  pages_[kPage] = std::byte{8};
  EXPECT_EQ(memory_.ReadValue<uint8_t>(begin + kPage), 8);
}

TEST_F(ResidentMemoryTest, ReadsNothingWhereThereIsNothing) {
  EXPECT_EQ(memory_.ReadValue<uint8_t>(0), std::nullopt);
  EXPECT_EQ(memory_.ReadValue<uint32_t>(UINT64_MAX - 1), std::nullopt);
  EXPECT_EQ(ResidentMemory(0x3fffff).ReadValue<uint8_t>(reinterpret_cast<uint64_t>(pages_)), std::nullopt);
}

}  // namespace
}  // namespace offcpu

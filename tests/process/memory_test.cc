#include "process/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <vector>

#include "os/owned_fd.h"

namespace offcpu {
namespace {

constexpr std::array<std::byte, 4> kBytes = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};

TEST(SpanMemoryTest, ReadsWithinAndNothingElse) {
  SpanMemory memory(0x1000, kBytes);
  EXPECT_EQ(memory.ReadValue<uint32_t>(0x1000), 0x04030201u);
  EXPECT_EQ(memory.ReadValue<uint8_t>(0x1003), 4);
  EXPECT_EQ(memory.ReadValue<uint16_t>(0x1003), std::nullopt);
  EXPECT_EQ(memory.ReadValue<uint8_t>(0x1004), std::nullopt);
  EXPECT_EQ(memory.ReadValue<uint8_t>(0xfff), std::nullopt);
  EXPECT_TRUE(memory.Read(0x1004, {}));
}

TEST(SpanMemoryTest, AddressesDoNotWrap) {
  SpanMemory top(UINT64_MAX - 3, kBytes);
  EXPECT_EQ(top.ReadValue<uint8_t>(UINT64_MAX), 4);
  EXPECT_EQ(top.ReadValue<uint16_t>(UINT64_MAX), std::nullopt);
  EXPECT_EQ(top.ReadValue<uint8_t>(0), std::nullopt);
}

// Two pages of ours, the second of which cannot be read.
class ProcessMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* memory = mmap(nullptr, 3 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    base_ = static_cast<char*>(memory);
    std::memset(base_, 7, 2 * page_);
    ASSERT_EQ(mprotect(base_ + 2 * page_, page_, PROT_NONE), 0);
  }
  void TearDown() override { munmap(base_, 3 * page_); }
  uint64_t address(size_t offset) const { return reinterpret_cast<uint64_t>(base_) + offset; }

  size_t page_ = 0;
  char* base_ = nullptr;
  ProcessMemory memory_{getpid()};
};

TEST_F(ProcessMemoryTest, ReadsAcrossPages) {
  std::vector<std::byte> out(2 * page_);
  EXPECT_TRUE(memory_.Read(address(0), out));
  EXPECT_EQ(out, std::vector<std::byte>(2 * page_, std::byte{7}));
}

TEST_F(ProcessMemoryTest, APartialReadIsNone) {
  std::vector<std::byte> out(16);
  EXPECT_TRUE(memory_.Read(address(2 * page_ - 16), out));
  EXPECT_FALSE(memory_.Read(address(2 * page_ - 15), out));
  EXPECT_FALSE(memory_.Read(address(2 * page_), out));
}

TEST_F(ProcessMemoryTest, AddressesDoNotWrap) {
  std::vector<std::byte> out(16);
  EXPECT_FALSE(memory_.Read(UINT64_MAX - 8, out));
  EXPECT_FALSE(memory_.Read(0, out));
}

TEST_F(ProcessMemoryTest, NoSuchProcess) {
  // The largest pid is 2^22.
  EXPECT_EQ(ProcessMemory(1 << 23).ReadValue<uint8_t>(address(0)), std::nullopt);
}

TEST(FileMemoryTest, ReadsAFileButNotBeyondIt) {
  const OwnedFd fd(memfd_create("memory_test", MFD_CLOEXEC));
  ASSERT_EQ(write(fd.get(), kBytes.data(), kBytes.size()), static_cast<ssize_t>(kBytes.size()));
  const FileMemory file(fd.get());
  std::array<std::byte, 4> got = {};
  ASSERT_TRUE(file.Read(0, got));
  EXPECT_EQ(got, kBytes);
  EXPECT_FALSE(file.Read(1, got));
  EXPECT_FALSE(file.Read(UINT64_MAX, got));
  EXPECT_FALSE(file.Read(INT64_MAX - 1, got));
  EXPECT_FALSE(FileMemory(-1).Read(0, got));
}

}  // namespace
}  // namespace offcpu

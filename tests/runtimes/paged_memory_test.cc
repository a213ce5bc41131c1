#include "runtimes/paged_memory.h"

#include <gtest/gtest.h>

#include <vector>

namespace offcpu {
namespace {

// Counts what is read of it: pages 1 to 3 are there, and each byte says in which.
class CountedMemory final : public Memory {
 public:
  bool Read(uint64_t address, std::span<std::byte> out) const override {
    ++reads;
    if (address < 4096 || address + out.size() > 4 * 4096) return false;
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>((address + i) / 4096);
    return true;
  }

  mutable int reads = 0;
};

TEST(PagedMemory, PageIsReadOnce) {
  const CountedMemory memory;
  const PagedMemory paged(memory);
  EXPECT_EQ(paged.ReadValue<uint8_t>(4096), 1);
  EXPECT_EQ(paged.ReadValue<uint8_t>(2 * 4096 - 1), 1);
  EXPECT_EQ(memory.reads, 1);
  EXPECT_EQ(paged.ReadValue<uint16_t>(2 * 4096 - 1), 2 << 8 | 1);  // the end of one and the begin of the next
  EXPECT_EQ(memory.reads, 2);
  EXPECT_EQ(paged.ReadValue<uint16_t>(4 * 4096 - 1), std::nullopt);
  EXPECT_EQ(paged.ReadValue<uint8_t>(0), std::nullopt);
  EXPECT_EQ(paged.ReadValue<uint8_t>(1), std::nullopt);
  EXPECT_EQ(memory.reads, 5);  // also of one that cannot be read
  EXPECT_EQ(paged.ReadValue<uint64_t>(UINT64_MAX), std::nullopt);
}

TEST(PagedMemory, SoManyPagesAreRead) {
  const CountedMemory memory;
  const PagedMemory paged(memory, {.pages = 2});
  EXPECT_EQ(paged.ReadValue<uint8_t>(4096), 1);
  EXPECT_EQ(paged.ReadValue<uint8_t>(2 * 4096), 2);
  EXPECT_FALSE(paged.is_spent());
  EXPECT_EQ(paged.ReadValue<uint8_t>(3 * 4096), std::nullopt);
  EXPECT_TRUE(paged.is_spent());
  EXPECT_EQ(memory.reads, 2);
}

// Also of pages that are there: who is asked for the same byte for ever has no end.
TEST(PagedMemory, SoOftenItIsRead) {
  const CountedMemory memory;
  const PagedMemory paged(memory, {.reads = 5});
  std::vector<std::byte> bytes(2 * PagedMemory::kBytesOfRead);
  EXPECT_TRUE(paged.Read(4096, std::span(bytes)));  // 3
  EXPECT_EQ(paged.ReadValue<uint8_t>(4096), 1);
  EXPECT_EQ(paged.ReadValue<uint8_t>(4096), 1);
  EXPECT_FALSE(paged.is_spent());
  EXPECT_EQ(paged.ReadValue<uint8_t>(4096), std::nullopt);
  EXPECT_TRUE(paged.is_spent());
}

TEST(PagedMemory, WhatCannotBeReadSpendsNothing) {
  const CountedMemory memory;
  const PagedMemory paged(memory, {.pages = 2});
  EXPECT_EQ(paged.ReadValue<uint64_t>(UINT64_MAX), std::nullopt);
  EXPECT_EQ(paged.ReadValue<uint8_t>(0), std::nullopt);
  EXPECT_FALSE(paged.is_spent());
}

}  // namespace
}  // namespace offcpu

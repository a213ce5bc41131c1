#include "process/copied_code.h"

#include <gtest/gtest.h>

#include <vector>

namespace offcpu {
namespace {

constexpr uint64_t kBegin = 0x7f0000000000;

std::vector<std::byte> Bytes(const std::vector<int>& values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

// sub $8, %rsp; call *%rcx; add $8, %rsp; ret
const std::vector<std::byte> kTrampoline =
    Bytes({0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3, 0, 0, 0, 0, 0});

std::vector<std::byte> Filled(const std::vector<std::byte>& function, size_t bytes) {
  std::vector<std::byte> memory(bytes);
  for (size_t at = 0; at < bytes; ++at) memory[at] = function[at % function.size()];
  return memory;
}

// As CPython 3.12.0 and 3.12.1 fill an arena: one copy right behind the other, and what is left is zeros.
std::vector<std::byte> Packed(const std::vector<std::byte>& function, size_t bytes) {
  std::vector<std::byte> memory(bytes);
  for (size_t at = 0; at < bytes / function.size() * function.size(); ++at) memory[at] = function[at % function.size()];
  return memory;
}

std::vector<std::byte> FunctionIn(const std::vector<std::byte>& memory) {
  return CopiedFunction(SpanMemory(kBegin, memory), kBegin, kBegin + memory.size());
}

TEST(CopiedCodeTest, IsFound) {
  EXPECT_EQ(FunctionIn(Filled(kTrampoline, 4096)), kTrampoline);
  EXPECT_EQ(FunctionIn(Filled(kTrampoline, 65536)), kTrampoline);
  std::vector<std::byte> longer = kTrampoline;
  longer.resize(kMostFunctionBytes);
  EXPECT_EQ(FunctionIn(Filled(longer, 4096)), longer);
}

// 11 bytes, and 15 with the landing pad that processors with CET want.
TEST(CopiedCodeTest, OfAnyLengthIsFound) {
  const std::vector<std::byte> plain(kTrampoline.begin(), kTrampoline.begin() + 11);
  std::vector<std::byte> with_landing_pad = Bytes({0xf3, 0x0f, 0x1e, 0xfa});
  with_landing_pad.insert(with_landing_pad.end(), plain.begin(), plain.end());
  for (const std::vector<std::byte>& function : {plain, with_landing_pad}) {
    const std::vector<std::byte> arena = Packed(function, kArenaBytes);
    EXPECT_EQ(FunctionIn(arena), function);
    std::vector<std::byte> two = arena;
    two.insert(two.end(), arena.begin(), arena.end());
    EXPECT_EQ(FunctionIn(two), function);
    EXPECT_EQ(OffsetInCopy(kArenaBytes + function.size() + 6, function.size()), 6u) << "copies begin anew";
    two[kArenaBytes - 1] = std::byte{1};
    EXPECT_TRUE(FunctionIn(two).empty()) << "no zero";
  }
}

TEST(CopiedCodeTest, NothingElseIs) {
  for (const size_t at : {size_t{5}, size_t{16}, size_t{4000}, size_t{65535}}) {
    std::vector<std::byte> memory = Filled(kTrampoline, 65536);
    memory[at] ^= std::byte{1};
    EXPECT_TRUE(FunctionIn(memory).empty()) << at;
  }
  EXPECT_TRUE(FunctionIn(std::vector<std::byte>(4096)).empty()) << "zeros";
  EXPECT_TRUE(FunctionIn(Filled(Bytes({0xc3}), 4096)).empty()) << "nobody is called";
  std::vector<std::byte> too_long = kTrampoline;
  too_long.resize(2 * kMostFunctionBytes);
  EXPECT_TRUE(FunctionIn(Filled(too_long, 4096)).empty());
}

TEST(CopiedCodeTest, Limits) {
  EXPECT_TRUE(FunctionIn(Filled(kTrampoline, 4080)).empty()) << "less than a page";
  EXPECT_EQ(FunctionIn(Filled(kTrampoline, kMostCopiedBytes)), kTrampoline);
  EXPECT_TRUE(FunctionIn(Filled(kTrampoline, kMostCopiedBytes + 4096)).empty());
}

TEST(CopiedCodeTest, WhatCannotBeReadIsNot) {
  const std::vector<std::byte> memory = Filled(kTrampoline, 4096);
  EXPECT_TRUE(CopiedFunction(SpanMemory(kBegin, memory), kBegin, kBegin + 8192).empty());
}

}  // namespace
}  // namespace offcpu

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
  EXPECT_TRUE(FunctionIn(Filled(kTrampoline, 4112)).empty()) << "no whole pages";
  EXPECT_EQ(FunctionIn(Filled(kTrampoline, kMostCopiedBytes)), kTrampoline);
  EXPECT_TRUE(FunctionIn(Filled(kTrampoline, kMostCopiedBytes + 4096)).empty());
}

TEST(CopiedCodeTest, WhatCannotBeReadIsNot) {
  const std::vector<std::byte> memory = Filled(kTrampoline, 4096);
  EXPECT_TRUE(CopiedFunction(SpanMemory(kBegin, memory), kBegin, kBegin + 8192).empty());
}

}  // namespace
}  // namespace offcpu

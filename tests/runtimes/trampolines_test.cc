#include "runtimes/python/trampolines.h"

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

TEST(TrampolinesTest, IsFound) {
  EXPECT_EQ(FunctionIn(Filled(kTrampoline, 4096)), kTrampoline);
  EXPECT_EQ(FunctionIn(Filled(kTrampoline, 65536)), kTrampoline);
  std::vector<std::byte> longer = kTrampoline;
  longer.resize(kMostFunctionBytes);
  EXPECT_EQ(FunctionIn(Filled(longer, 4096)), longer);
}

// 11 bytes, and 15 with the landing pad that processors with CET want.
TEST(TrampolinesTest, OfAnyLengthAreFound) {
  const std::vector<std::byte> plain(kTrampoline.begin(), kTrampoline.begin() + 11);
  std::vector<std::byte> with_landing_pad = Bytes({0xf3, 0x0f, 0x1e, 0xfa});
  with_landing_pad.insert(with_landing_pad.end(), plain.begin(), plain.end());
  for (const std::vector<std::byte>& function : {plain, with_landing_pad}) {
    const std::vector<std::byte> arena = Packed(function, MappedCode::kArenaBytes);
    EXPECT_EQ(FunctionIn(arena), function);
    std::vector<std::byte> two = arena;
    two.insert(two.end(), arena.begin(), arena.end());
    EXPECT_EQ(FunctionIn(two), function);
    MappedCode code;
    code.begin = kBegin;
    code.copied = function;
    EXPECT_EQ(code.OffsetInCopy(kBegin + MappedCode::kArenaBytes + function.size() + 6), 6u) << "copies begin anew";
    two[MappedCode::kArenaBytes - 1] = std::byte{1};
    EXPECT_TRUE(FunctionIn(two).empty()) << "no zero";
  }
}

TEST(TrampolinesTest, NothingElseIs) {
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

TEST(TrampolinesTest, Limits) {
  EXPECT_TRUE(FunctionIn(Filled(kTrampoline, 4080)).empty()) << "less than a page";
  EXPECT_EQ(FunctionIn(Filled(kTrampoline, kMostCopiedBytes)), kTrampoline);
  EXPECT_TRUE(FunctionIn(Filled(kTrampoline, kMostCopiedBytes + 4096)).empty());
}

TEST(TrampolinesTest, WhatCannotBeReadIsNot) {
  const std::vector<std::byte> memory = Filled(kTrampoline, 4096);
  EXPECT_TRUE(CopiedFunction(SpanMemory(kBegin, memory), kBegin, kBegin + 8192).empty());
}

TEST(TrampolinesTest, AreFoundInCodeThatIsInNoFile) {
  const std::vector<std::byte> bytes = Filled(kTrampoline, 8192);
  const SpanMemory memory(kBegin, bytes);
  const std::vector<Mapping> mappings = {
      {.begin = kBegin, .end = kBegin + 0x1000, .executable = true},
      {.begin = kBegin + 0x1000, .end = kBegin + 0x2000, .executable = true, .inode = 5, .path = "/memfd:code"},
      {.begin = kBegin + 0x3000, .end = kBegin + 0x5000, .executable = true}};  // where nothing can be read
  ModuleCache modules;
  const CodeReader reader = {.read_made = FindTrampolines};
  const auto space = BuildAddressSpace(mappings, memory, 0, nullptr, modules, 0, reader);
  ASSERT_EQ(space->code().size(), 3u);
  EXPECT_EQ(space->code()[0].copied, kTrampoline);
  EXPECT_TRUE(space->code()[1].copied.empty());
  EXPECT_TRUE(space->code()[2].copied.empty());
  const auto again = BuildAddressSpace(mappings, memory, 0, space.get(), modules, 0, reader);
  EXPECT_TRUE(space->SameCode(*again)) << "as it is when it is read again";
}

}  // namespace
}  // namespace offcpu

#include "process/system_call_returns.h"

#include <gtest/gtest.h>

#include <vector>

namespace offcpu {
namespace {

constexpr uint64_t kText = 0x401000;

std::vector<std::byte> Bytes(const std::vector<int>& values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(SystemCallReturnsTest, Found) {
  const std::vector<std::byte> code = Bytes({0x0f, 0x05, 0xc3,                   // syscall; ret
                                             0x90,                               // nop
                                             0x0f, 0x05, 0xc3,                   // likewise
                                             0x0f, 0x05, 0x48, 0x89, 0xc3,       // syscall; mov %rax, %rbx
                                             0x0f, 0x0f, 0x05, 0xc3, 0x0f, 5});  // in the middle of something, and cut
  EXPECT_EQ(SystemCallReturns(code, kText),
            (std::vector<CodeRange>{{kText + 2, kText + 3}, {kText + 6, kText + 7}, {kText + 15, kText + 16}}));
  EXPECT_TRUE(SystemCallReturns({}, kText).empty());
}

TEST(SystemCallReturnsTest, EveryPrefix) {
  const std::vector<std::byte> code = Bytes({0x90, 0x0f, 0x05, 0xc3});
  for (size_t size = 0; size < code.size(); ++size) {
    EXPECT_TRUE(SystemCallReturns(std::span(code).first(size), kText).empty()) << size;
  }
}

TEST(SystemCallReturnsTest, AtTheLimit) {
  std::vector<std::byte> code;
  for (size_t i = 0; i < kMaxSystemCallReturns; ++i) {
    for (const int byte : {0x0f, 0x05, 0xc3}) code.push_back(static_cast<std::byte>(byte));
  }
  EXPECT_EQ(SystemCallReturns(code, kText).size(), kMaxSystemCallReturns);
  for (const int byte : {0x0f, 0x05, 0xc3}) code.push_back(static_cast<std::byte>(byte));
  EXPECT_TRUE(SystemCallReturns(code, kText).empty());
}

}  // namespace
}  // namespace offcpu

#include "process/return_path.h"

#include <gtest/gtest.h>

#include <vector>

namespace offcpu {
namespace {

using Kind = ReturnPath::Kind;

std::vector<std::byte> Bytes(const std::vector<int>& values) {
  std::vector<std::byte> bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

ReturnPath From(const std::vector<int>& code, size_t at = 0) { return FollowReturn(Bytes(code), at); }

ReturnPath BySp(int32_t cfa, std::optional<int32_t> fp = std::nullopt) {
  return {.kind = Kind::kReturns, .from_fp = false, .cfa_offset = cfa, .fp_offset = fp};
}
ReturnPath ByFp(int32_t cfa, std::optional<int32_t> fp) {
  return {.kind = Kind::kReturns, .from_fp = true, .cfa_offset = cfa, .fp_offset = fp};
}

const std::vector<int> kTrampoline = {0x48, 0x83, 0xec, 0x08,  // sub $8, %rsp
                                      0xff, 0xd1,              // call *%rcx
                                      0x48, 0x83, 0xc4, 0x08,  // add $8, %rsp
                                      0xc3};                   // ret

TEST(ReturnPathTest, FrameOfABodyWithoutPushes) { EXPECT_EQ(From(kTrampoline, 6), BySp(16)); }

TEST(ReturnPathTest, PoppedRegisters) {
  EXPECT_EQ(From({0x5b,                // pop %rbx
                  0x5d,                // pop %rbp
                  0x41, 0x5c, 0xc3}),  // pop %r12; ret
            BySp(32, -24));
  EXPECT_EQ(From({0x48, 0x8b, 0x6c, 0x24, 0x10,    // mov 16(%rsp), %rbp
                  0x48, 0x83, 0xc4, 0x18, 0xc3}),  // add $24, %rsp; ret
            BySp(32, -16));
  EXPECT_EQ(From({0x48, 0x83, 0xec, 0x80, 0x58, 0xc3}), BySp(144)) << "sub $-128, %rsp; pop %rax; ret: 136 are gone";
}

TEST(ReturnPathTest, ByFramePointer) {
  EXPECT_EQ(From({0xc9, 0xc3}), ByFp(16, -16)) << "leave; ret";
  EXPECT_EQ(From({0x48, 0x8d, 0x65, 0xf0,  // lea -16(%rbp), %rsp
                  0x5b, 0x41, 0x5c,        // pop %rbx; pop %r12
                  0x5d, 0xc3}),            // pop %rbp; ret
            ByFp(16, -16));
  EXPECT_EQ(From({0x48, 0x89, 0xec, 0x5d, 0xc3}), ByFp(16, -16)) << "mov %rbp, %rsp; pop %rbp; ret";
  EXPECT_EQ(From({0x31, 0xed, 0xc9, 0xc3}).kind, Kind::kUnknown) << "xor %ebp, %ebp; leave; ret";
}

TEST(ReturnPathTest, AllWays) {
  EXPECT_EQ(From({0x85, 0xc0,                // test %eax, %eax
                  0x74, 0x02,                // je +2
                  0x58, 0xc3,                // pop %rax; ret
                  0x31, 0xc0, 0x59, 0xc3}),  // xor %eax, %eax; pop %rcx; ret
            BySp(16));
  EXPECT_EQ(From({0x74, 0x02, 0x58, 0xc3,  // je +2; pop %rax; ret
                  0x59, 0x59, 0x59, 0xc3})
                .kind,  // three words
            Kind::kUnknown)
      << "they differ";
  EXPECT_EQ(From({0x75, 0xfe, 0x58, 0xc3}), BySp(16)) << "a loop: jne to itself";
  EXPECT_EQ(From({0xe8, 0, 0, 0, 0, 0x58, 0xc3}), BySp(16)) << "another call";
  EXPECT_EQ(From({0x74, 0x02, 0xff, 0xe0, 0x58, 0xc3}), BySp(16)) << "je +2; jmp *%rax";
  EXPECT_EQ(From({0xeb, 0x02, 0xcc, 0xcc, 0x58, 0xc3}), BySp(16)) << "jmp +2";
}

// Behind the call there is another function, which pops what it has pushed, or nothing.
TEST(ReturnPathTest, NeverReturns) {
  EXPECT_EQ(From({0x53, 0x5b, 0xc3}).kind, Kind::kNeverReturns) << "push %rbx; pop %rbx; ret";
  EXPECT_EQ(From({0x48, 0x83, 0xec, 0x08, 0x58, 0xc3}).kind, Kind::kNeverReturns) << "sub $8, %rsp; ...";
  EXPECT_EQ(From({0x31, 0xc0, 0xc3}).kind, Kind::kNeverReturns) << "xor %eax, %eax; ret";
  EXPECT_EQ(From({0x58, 0x59, 0xc3}).kind, Kind::kNeverReturns) << "nobody calls with an unaligned stack pointer";
  EXPECT_EQ(From({0xf4}).kind, Kind::kNeverReturns) << "hlt";
  EXPECT_EQ(From({0x0f, 0x0b}).kind, Kind::kNeverReturns) << "ud2";
  EXPECT_EQ(From({0xcc}).kind, Kind::kNeverReturns) << "int3";
  EXPECT_EQ(From({0xeb, 0xfe}).kind, Kind::kNeverReturns) << "jmp to itself";
}

TEST(ReturnPathTest, Unknown) {
  EXPECT_EQ(From({}).kind, Kind::kUnknown);
  EXPECT_EQ(From(kTrampoline, kTrampoline.size()).kind, Kind::kUnknown);
  EXPECT_EQ(From(kTrampoline, SIZE_MAX).kind, Kind::kUnknown);
  EXPECT_EQ(From({0xff, 0xe0}).kind, Kind::kUnknown) << "jmp *%rax";
  EXPECT_EQ(From({0xeb, 0x7f}).kind, Kind::kUnknown) << "jmp out of the code";
  EXPECT_EQ(From({0xeb, 0x80}).kind, Kind::kUnknown) << "and in front of it";
  EXPECT_EQ(From({0x48, 0x89, 0xc4, 0x58, 0xc3}).kind, Kind::kUnknown) << "mov %rax, %rsp";
  EXPECT_EQ(From({0x5c, 0xc3}).kind, Kind::kUnknown) << "pop %rsp";
  EXPECT_EQ(From({0x66, 0x58, 0xc3}).kind, Kind::kUnknown) << "pop %ax";
  EXPECT_EQ(From({0x83, 0xc4, 0x08, 0xc3}).kind, Kind::kUnknown) << "add $8, %esp";
  EXPECT_EQ(From({0x58, 0xc2, 0x08, 0x00}).kind, Kind::kUnknown) << "ret $8";
  EXPECT_EQ(From({0x58, 0xbd, 0, 0, 0, 0, 0xc3}).kind, Kind::kUnknown) << "mov $0, %ebp, and so to the caller";
  EXPECT_EQ(From({0x06}).kind, Kind::kUnknown) << "no instruction";
}

TEST(ReturnPathTest, EveryPrefix) {
  for (size_t size = 6; size < kTrampoline.size(); ++size) {
    const std::vector<int> cut(kTrampoline.begin(), kTrampoline.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_EQ(From(cut, 6).kind, Kind::kUnknown) << size;
  }
}

TEST(ReturnPathTest, AtTheLimit) {
  std::vector<int> code(kMaxReturnSteps - 2, 0x90);  // nop
  for (const int byte : {0x58, 0xc3}) code.push_back(byte);
  EXPECT_EQ(From(code), BySp(16));
  code.insert(code.begin(), 0x90);
  EXPECT_EQ(From(code).kind, Kind::kUnknown);
}

}  // namespace
}  // namespace offcpu

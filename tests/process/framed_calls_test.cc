#include "process/framed_calls.h"

#include <gtest/gtest.h>

#include <vector>

namespace offcpu {
namespace {

std::vector<std::byte> Code(const std::vector<std::vector<int>>& instructions) {
  std::vector<std::byte> code;
  for (const std::vector<int>& instruction : instructions) {
    for (const int byte : instruction) code.push_back(static_cast<std::byte>(byte));
  }
  return code;
}
bool Has(const std::vector<std::vector<int>>& instructions) { return HasFrameAtCalls(Code(instructions)); }

const std::vector<int> kEndbr = {0xf3, 0x0f, 0x1e, 0xfa};
const std::vector<int> kPushFp = {0x55};
const std::vector<int> kSetFp = {0x48, 0x89, 0xe5};     // mov %rsp, %rbp
const std::vector<int> kSetFpToo = {0x48, 0x8b, 0xec};  // likewise, as other assemblers write it
const std::vector<int> kPopFp = {0x5d};
const std::vector<int> kLeave = {0xc9};
const std::vector<int> kPushBx = {0x53};
const std::vector<int> kPopBx = {0x5b};
const std::vector<int> kMakeRoom = {0x48, 0x83, 0xec, 0x08};  // sub $8, %rsp
const std::vector<int> kGiveBack = {0x48, 0x83, 0xc4, 0x08};  // add $8, %rsp
const std::vector<int> kCall = {0xe8, 0, 1, 0, 0};
const std::vector<int> kCallIndirect = {0xff, 0xd0};
const std::vector<int> kRet = {0xc3};
const std::vector<int> kJumpIndirect = {0xff, 0xe0};  // jmp *%rax
const std::vector<int> kTest = {0x85, 0xff};          // test %edi, %edi
const std::vector<int> kNop = {0x0f, 0x1f, 0x40, 0};
const std::vector<int> kTrap = {0x0f, 0x0b};
std::vector<int> JumpIfZero(int by) { return {0x74, by & 0xff}; }
std::vector<int> Jump(int by) { return {0xeb, by & 0xff}; }

TEST(FramedCallsTest, TheFrameIsSetUpFirst) {
  EXPECT_TRUE(Has({kPushFp, kSetFp, kCall, kPopFp, kRet}));
  EXPECT_TRUE(Has({kEndbr, kPushFp, kSetFpToo, kPushBx, kMakeRoom, kCallIndirect, kGiveBack, kPopBx, kPopFp, kRet}));
  EXPECT_TRUE(Has({kPushFp, kSetFp, kMakeRoom, kCall, kLeave, kRet}));
  EXPECT_TRUE(Has({kPushFp, kTest, kSetFp, kCall, kLeave, kRet})) << "compilers order instructions as they like";
}

TEST(FramedCallsTest, WithoutAFrameNothingIsCalled) {
  EXPECT_FALSE(Has({kMakeRoom, kCall, kGiveBack, kRet}));
  EXPECT_FALSE(Has({kPushBx, kCall, kPopBx, kRet}));
  EXPECT_FALSE(Has({kPushFp, kCall, kPopFp, kRet})) << "saved, but not set";
  EXPECT_FALSE(Has({kPushFp, {0x89, 0xfd}, kCall, kPopFp, kRet})) << "mov %edi, %ebp";
  EXPECT_FALSE(Has({kPushFp, kSetFp, {0x31, 0xed}, kCall, kPopFp, kRet})) << "xor %ebp, %ebp";
  EXPECT_FALSE(Has({kPushFp, kSetFp, kPopFp, kCall, kRet})) << "it is gone again";
  EXPECT_FALSE(Has({kCall, kPushFp, kSetFp, kCall, kPopFp, kRet})) << "too late";
}

// What it points to must be right below the return address.
TEST(FramedCallsTest, TheFrameIsNextToTheReturnAddress) {
  EXPECT_FALSE(Has({kPushBx, kPushFp, kSetFp, kCall, kPopFp, kPopBx, kRet}));
  EXPECT_FALSE(Has({kPushFp, kPushBx, kSetFp, kCall, kPopBx, kPopFp, kRet}));
  EXPECT_FALSE(Has({kMakeRoom, kPushFp, kSetFp, kCall, kPopFp, kGiveBack, kRet}));
  EXPECT_FALSE(Has({kPushFp, {0x48, 0x8d, 0x6c, 0x24, 0xf0}, kCall, kPopFp, kRet})) << "lea -16(%rsp), %rbp";
}

TEST(FramedCallsTest, LeavesNeedNone) {
  EXPECT_TRUE(Has({kRet}));
  EXPECT_TRUE(Has({kPushBx, {0x89, 0xfd}, kPopBx, kRet}));
  EXPECT_TRUE(Has({Jump(0x40)})) << "to another function";
}

TEST(FramedCallsTest, AllWaysAreFollowed) {
  // An early return before the frame is set up.
  EXPECT_TRUE(Has({kTest, JumpIfZero(11), kPushFp, kSetFp, kCall, kPopFp, kRet, kRet}));
  // The call is jumped to from in front of the frame.
  EXPECT_FALSE(Has({kTest, JumpIfZero(4), kPushFp, kSetFp, kCall, kPopFp, kRet}));
  // A loop, at whose begin two ways meet.
  EXPECT_TRUE(Has({kPushFp, kSetFp, kCall, kTest, JumpIfZero(-9), kPopFp, kRet}));
  EXPECT_FALSE(Has({kPushFp, kSetFp, kCall, kPopFp, kTest, JumpIfZero(-10), kRet}));
  // Behind a call that does not return may be anything.
  EXPECT_TRUE(Has({kPushFp, kSetFp, kTest, JumpIfZero(2), kPopFp, kRet, kCall}));
}

// Where tables of jumps lead to no instruction shows.
TEST(FramedCallsTest, WhatNothingLeadsToHasTheFrame) {
  EXPECT_TRUE(Has({kPushFp, kSetFp, kJumpIndirect, kNop, kCall, kPopFp, kRet}));
  EXPECT_FALSE(Has({kJumpIndirect, kNop, kCall, kRet})) << "there was none";
  EXPECT_FALSE(Has({kPushFp, kSetFp, kTrap, {0x31, 0xed}, kCall, kPopFp, kRet}));
  EXPECT_TRUE(Has({kPushFp, kSetFp, kCall, kPopFp, kJumpIndirect, kNop})) << "the end, and padding";
}

TEST(FramedCallsTest, WhatIsNoCodeIsNotKnown) {
  EXPECT_FALSE(Has({{0x06}, kRet}));
  EXPECT_FALSE(Has({kPushFp, kSetFp, {0xe8, 0}})) << "cut off";
  EXPECT_TRUE(Has({}));
  std::vector<std::byte> longest(kMaxFunctionBytes, std::byte{0x90});
  EXPECT_TRUE(HasFrameAtCalls(longest));
  longest.push_back(std::byte{0x90});
  EXPECT_FALSE(HasFrameAtCalls(longest));
}

// Each instruction is decoded twice: when it is followed, and when what nothing leads to is looked for.
TEST(FramedCallsTest, FunctionsBehindTheLimitAreLeftOut) {
  constexpr size_t kFunctions = kMaxDecoded / 2 / kMaxFunctionBytes;
  const std::vector<std::byte> code((kFunctions + 1) * kMaxFunctionBytes, std::byte{0x90});
  std::vector<CodeRange> functions;
  for (size_t i = 0; i <= kFunctions; ++i) functions.push_back({i * kMaxFunctionBytes, (i + 1) * kMaxFunctionBytes});
  EXPECT_EQ(FramedFunctions(code, 0, functions), (std::vector<CodeRange>{{0, kFunctions * kMaxFunctionBytes}}));
}

TEST(FramedCallsTest, NeighboursAreOneRange) {
  const std::vector<std::byte> code = Code({kPushFp, kSetFp, kCall, kPopFp, kRet,  // 11 bytes
                                            kPushFp, kSetFp, kCall, kPopFp, kRet,  //
                                            kMakeRoom, kCall, kGiveBack, kRet,     // 14
                                            kRet});
  const auto framed = [&code](const std::vector<CodeRange>& functions) {
    return FramedFunctions(code, 0x1000, functions);
  };
  EXPECT_EQ(framed({{0x1000, 0x100b}, {0x100b, 0x1016}, {0x1016, 0x1024}, {0x1024, 0x1025}}),
            (std::vector<CodeRange>{{0x1000, 0x1016}, {0x1024, 0x1025}}));
  EXPECT_EQ(framed({{0x1000, 0x100b}, {0x1016, 0x1024}}), (std::vector<CodeRange>{{0x1000, 0x100b}}));
  EXPECT_EQ(framed({{0xff0, 0x100b}, {0x1024, 0x1026}, {0x1010, 0x1010}}), std::vector<CodeRange>());
}

}  // namespace
}  // namespace offcpu

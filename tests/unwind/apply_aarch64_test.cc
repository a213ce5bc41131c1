// Rows of AArch64, applied to a made-up stack.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "unwind/apply.h"

namespace offcpu {
namespace {

constexpr uint64_t kStack = 0x7ffff000;

// A stack of 1 KiB with words at offsets, and a leaf whose sp is its begin.
class AArch64Test : public ::testing::Test {
 protected:
  AArch64Test() : bytes_(0x400) {
    registers_.value[kAArch64Pc] = 0x400000;
    registers_.value[kAArch64Sp] = kStack;
    registers_.value[kX29] = kStack + 0x40;
    registers_.value[kX30] = 0x401234;
    BeLeaf();
  }

  void BeLeaf(const Machine& machine = kAArch64) { state_ = LeafState(registers_, false, machine); }

  void Put(uint64_t offset, uint64_t word) { std::memcpy(bytes_.data() + offset, &word, sizeof(word)); }

  std::optional<EndReason> Step(const UnwindRow& row) {
    SpanMemory memory(kStack, bytes_);
    return Apply(row, {.memory = memory, .begin = kStack, .end = kStack + bytes_.size()}, &state_);
  }

  // A caller: nothing of x30 is known.
  void BeCaller() {
    state_.full = false;
    state_.exact = false;
    state_.source = FrameSource::kEhFrame;
  }

  std::vector<std::byte> bytes_;
  Registers registers_;
  FrameState state_ = {.machine = &kAArch64};
};

constexpr ValueRule kInLr = {.offset = 0, .place = Place::kInRegister, .reg = kX30};
constexpr ValueRule kUnchanged = {.offset = 0, .place = Place::kUnchanged, .reg = 0};

constexpr CfaRule OnReg(uint8_t reg, int32_t offset) {
  return {.offset = offset, .addend = 0, .reg = reg, .deref = false};
}
constexpr ValueRule AtCfa(int32_t offset) { return {.offset = offset, .place = Place::kAtCfa, .reg = 0}; }

// Before the prologue: CFA = sp, the return address in x30.
constexpr UnwindRow kLeafRow = {.cfa = OnReg(kAArch64Sp, 0), .ra = kInLr, .fp = kUnchanged};
// stp x29, x30, [sp, -32]!
constexpr UnwindRow kFramedRow = {.cfa = OnReg(kAArch64Sp, 32), .ra = AtCfa(-24), .fp = AtCfa(-32)};

TEST_F(AArch64Test, ALeafThatHasSavedNothing) {
  EXPECT_EQ(Step(kLeafRow), std::nullopt);
  EXPECT_EQ(state_.pc, 0x401234u);
  EXPECT_EQ(state_.sp, kStack);
  EXPECT_EQ(state_.fp, kStack + 0x40);
  EXPECT_FALSE(state_.full);
  EXPECT_FALSE(state_.exact);
}

TEST_F(AArch64Test, X30IsNotKnownInACaller) {
  BeCaller();
  EXPECT_EQ(Step(kLeafRow), EndReason::kBadCfa) << "it would stay for ever";
  UnwindRow above = kLeafRow;
  above.cfa.offset = 16;
  EXPECT_EQ(Step(above), EndReason::kRegisterUnknown);
}

TEST_F(AArch64Test, AFrameWithX29AndX30) {
  Put(0, kStack + 0x80);  // x29
  Put(8, 0x402000);       // x30
  for (bool caller : {false, true}) {
    state_.sp = kStack;
    if (caller) BeCaller();
    EXPECT_EQ(Step(kFramedRow), std::nullopt);
    EXPECT_EQ(state_.pc, 0x402000u);
    EXPECT_EQ(state_.sp, kStack + 32);
    EXPECT_EQ(state_.fp, kStack + 0x80);
  }
}

TEST_F(AArch64Test, X30SavedWithoutX29) {
  Put(0, 0x402000);
  EXPECT_EQ(Step({.cfa = OnReg(kAArch64Sp, 16), .ra = AtCfa(-16), .fp = kUnchanged}), std::nullopt);
  EXPECT_EQ(state_.pc, 0x402000u);
  EXPECT_EQ(state_.fp, kStack + 0x40);
}

TEST_F(AArch64Test, TheCfaOnX29) {
  Put(0x40, kStack + 0x100);
  Put(0x48, 0x403000);
  EXPECT_EQ(Step({.cfa = OnReg(kX29, 16), .ra = AtCfa(-8), .fp = AtCfa(-16)}), std::nullopt);
  EXPECT_EQ(state_.sp, kStack + 0x50);
  EXPECT_EQ(state_.pc, 0x403000u);
  EXPECT_EQ(state_.fp, kStack + 0x100);
}

TEST_F(AArch64Test, SignaturesAreRemovedWhereTheRowSaysSo) {
  UnwindRow row = kFramedRow;
  row.mangled_ra = true;
  Put(8, 0x12af'ffff'8040'2000);
  for (auto [va_bits, expected] : std::map<int, uint64_t>{{39, 0x7f'8040'2000}, {48, 0xffff'8040'2000}}) {
    Machine machine = kAArch64;
    machine.address_bits = static_cast<uint8_t>(va_bits);
    BeLeaf(machine);
    EXPECT_EQ(Step(row), std::nullopt);
    EXPECT_EQ(state_.pc, expected) << va_bits;
  }
}

TEST_F(AArch64Test, ASignedX30) {
  UnwindRow row = kLeafRow;
  row.mangled_ra = true;
  registers_.value[kX30] = 0x00a1'0000'0040'1234;
  BeLeaf();
  EXPECT_EQ(Step(row), std::nullopt);
  EXPECT_EQ(state_.pc, 0x401234u);
}

TEST_F(AArch64Test, TheOutermostFrame) {
  EXPECT_EQ(Step(UnwindRow()), EndReason::kComplete);
  EXPECT_EQ(Step(kFramedRow), EndReason::kComplete) << "a return address of 0";
  UnwindRow signed_row = kFramedRow;
  signed_row.mangled_ra = true;
  Put(8, 0x12af'0000'0000'0000);
  EXPECT_EQ(Step(signed_row), EndReason::kComplete) << "a signed 0";
}

// A siginfo of 128 bytes at sp, then a ucontext: uc_mcontext is at 176, and its x0 8 bytes behind.
TEST_F(AArch64Test, TheTrampoline) {
  constexpr uint64_t kX0 = 128 + 176 + 8;
  ASSERT_EQ(kX0, 312u);
  Put(kX0 + 8 * 29, kStack + 0x3c0);  // x29
  Put(kX0 + 8 * 30, 0x404444);        // x30
  Put(kX0 + 8 * 31, kStack + 0x380);  // sp
  Put(kX0 + 8 * 32, 0x405678);        // pc
  BeCaller();
  EXPECT_EQ(Step(KernelContextRow(kAArch64)), std::nullopt);
  EXPECT_EQ(state_.pc, 0x405678u);
  EXPECT_EQ(state_.sp, kStack + 0x380);
  EXPECT_EQ(state_.fp, kStack + 0x3c0);
  EXPECT_TRUE(state_.exact) << "it was interrupted there";
  EXPECT_TRUE(state_.full);
  EXPECT_EQ(Step(kLeafRow), std::nullopt);
  EXPECT_EQ(state_.pc, 0x404444u);
}

TEST_F(AArch64Test, ATrampolineWithoutAContext) {
  Put(560, kStack + 0x380);
  EXPECT_EQ(Step(KernelContextRow(kAArch64)), EndReason::kBadReturnAddress) << "pc is 0";
}

// What tells a signal frame: flags and link, the mode in pstate, and the head of the vector registers' record.
TEST_F(AArch64Test, ASignalFrameIsTold) {
  constexpr int kFlags = 128, kLink = 136, kPstate = 576, kRecord = 592;
  SpanMemory memory(kStack, bytes_);
  const StackCopy copy = {.memory = memory, .begin = kStack, .end = kStack + bytes_.size()};
  Put(kPstate, 0x6000'0000);
  Put(kRecord, 0x0000'0210'4650'8001);
  bool found = false;
  EXPECT_TRUE(IsKernelContext(copy, state_));
  EXPECT_EQ(FindKernelContext(copy, state_, &found), std::nullopt);
  EXPECT_TRUE(found);
  for (const int offset : {kFlags, kLink, kPstate}) {
    const std::vector<std::byte> good = bytes_;
    Put(static_cast<uint64_t>(offset), 5);
    EXPECT_FALSE(IsKernelContext(copy, state_)) << offset;
    EXPECT_EQ(FindKernelContext(copy, state_, &found), std::nullopt);
    EXPECT_FALSE(found) << offset;
    std::copy(good.begin(), good.end(), bytes_.begin());
  }
  Put(kRecord, 0);
  EXPECT_FALSE(IsKernelContext(copy, state_)) << "not by a table";
  EXPECT_EQ(FindKernelContext(copy, state_, &found), std::nullopt);
  EXPECT_TRUE(found) << "what a table says so of";
}

TEST_F(AArch64Test, CfasThatCannotBe) {
  struct Case {
    const char* name;
    CfaRule cfa;
    EndReason reason;
  };
  const Case cases[] = {
      {"not aligned", OnReg(kAArch64Sp, 4), EndReason::kBadCfa},
      {"falls", OnReg(kAArch64Sp, -16), EndReason::kBadCfa},
      {"stays", OnReg(kAArch64Sp, 0), EndReason::kBadCfa},
      {"above the stack", OnReg(kAArch64Sp, 0x408), EndReason::kBadCfa},
      {"on a register that is not followed", OnReg(20, 16), EndReason::kRegisterUnknown},
  };
  BeCaller();
  for (const Case& c : cases) EXPECT_EQ(Step({.cfa = c.cfa, .ra = AtCfa(-8), .fp = kUnchanged}), c.reason) << c.name;
  state_.fp = UINT64_MAX - 7;
  EXPECT_EQ(Step({.cfa = OnReg(kX29, 16), .ra = AtCfa(-8), .fp = kUnchanged}), EndReason::kBadCfa) << "wraps";
}

TEST_F(AArch64Test, ReadsOutsideTheStack) {
  EXPECT_EQ(Step({.cfa = OnReg(kAArch64Sp, 16), .ra = AtCfa(-24), .fp = kUnchanged}), EndReason::kBadMemory);
  EXPECT_EQ(Step({.cfa = OnReg(kAArch64Sp, 0x400), .ra = AtCfa(0), .fp = kUnchanged}), EndReason::kBadMemory);
}

TEST_F(AArch64Test, AFramePointerThatCannotBeReadEndsNothing) {
  Put(8, 0x402000);
  EXPECT_EQ(Step({.cfa = OnReg(kAArch64Sp, 16), .ra = AtCfa(-8), .fp = AtCfa(-64)}), std::nullopt);
  EXPECT_FALSE(state_.fp_known);
  EXPECT_EQ(Step({.cfa = OnReg(kX29, 16), .ra = AtCfa(-8), .fp = kUnchanged}), EndReason::kRegisterUnknown);
}

// Rows that come from no table, and those of linkers' stubs, do not say whether it is signed.
TEST_F(AArch64Test, SignaturesAreRemovedWhetherTheRowSaysSoOrNot) {
  Put(0, kStack + 0x80);
  Put(8, 0x0051'0000'0040'2000);
  EXPECT_EQ(Step(kFramedRow), std::nullopt);
  EXPECT_EQ(state_.pc, 0x402000u);
  registers_.value[kX30] = 0x7f7f'0000'0040'3000;
  BeLeaf();
  EXPECT_EQ(Step(kLeafRow), std::nullopt);
  EXPECT_EQ(state_.pc, 0x403000u);
}

}  // namespace
}  // namespace offcpu

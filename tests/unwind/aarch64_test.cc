#include "unwind/aarch64.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

namespace offcpu {
namespace {

constexpr uint64_t kStack = 0x7ffff000;

// A stack of 1 KiB with words at offsets, and a leaf whose sp is its begin.
class AArch64Test : public ::testing::Test {
 protected:
  AArch64Test() : bytes_(0x400) {
    state_.pc = 0x400000;
    state_.sp = kStack;
    state_.fp = kStack + 0x40;
    state_.lr = 0x401234;
  }

  void Put(uint64_t offset, uint64_t word) { std::memcpy(bytes_.data() + offset, &word, sizeof(word)); }

  std::optional<EndReason> Apply(const Row& row) {
    SpanMemory memory(kStack, bytes_);
    return ApplyAArch64(row, {.memory = memory, .begin = kStack, .end = kStack + bytes_.size()}, &state_);
  }

  // A caller: nothing of x30 is known.
  void BeCaller() {
    state_.lr_known = false;
    state_.exact = false;
  }

  std::vector<std::byte> bytes_;
  AArch64State state_;
};

constexpr ValueRule kInLr = {.offset = 0, .place = Place::kInRegister, .reg = kAArch64Lr};
constexpr ValueRule kUnchanged = {.offset = 0, .place = Place::kUnchanged, .reg = 0};

constexpr CfaRule OnReg(uint8_t reg, int32_t offset) {
  return {.offset = offset, .addend = 0, .reg = reg, .deref = false};
}
constexpr ValueRule AtCfa(int32_t offset) { return {.offset = offset, .place = Place::kAtCfa, .reg = 0}; }

// Before the prologue: CFA = sp, the return address in x30.
constexpr Row kLeafRow = {.cfa = OnReg(kAArch64Sp, 0), .ra = kInLr, .fp = kUnchanged};
// stp x29, x30, [sp, -32]!
constexpr Row kFramedRow = {.cfa = OnReg(kAArch64Sp, 32), .ra = AtCfa(-24), .fp = AtCfa(-32)};

TEST_F(AArch64Test, ALeafThatHasSavedNothing) {
  EXPECT_EQ(Apply(kLeafRow), std::nullopt);
  EXPECT_EQ(state_.pc, 0x401234u);
  EXPECT_EQ(state_.sp, kStack);
  EXPECT_EQ(state_.fp, kStack + 0x40);
  EXPECT_FALSE(state_.lr_known);
  EXPECT_FALSE(state_.exact);
}

TEST_F(AArch64Test, X30IsNotKnownInACaller) {
  BeCaller();
  EXPECT_EQ(Apply(kLeafRow), EndReason::kBadCfa) << "it would stay for ever";
  Row above = kLeafRow;
  above.cfa.offset = 16;
  EXPECT_EQ(Apply(above), EndReason::kRegisterUnknown);
}

TEST_F(AArch64Test, AFrameWithX29AndX30) {
  Put(0, kStack + 0x80);  // x29
  Put(8, 0x402000);       // x30
  for (bool caller : {false, true}) {
    state_.sp = kStack;
    if (caller) BeCaller();
    EXPECT_EQ(Apply(kFramedRow), std::nullopt);
    EXPECT_EQ(state_.pc, 0x402000u);
    EXPECT_EQ(state_.sp, kStack + 32);
    EXPECT_EQ(state_.fp, kStack + 0x80);
  }
}

TEST_F(AArch64Test, X30SavedWithoutX29) {
  Put(0, 0x402000);
  EXPECT_EQ(Apply({.cfa = OnReg(kAArch64Sp, 16), .ra = AtCfa(-16), .fp = kUnchanged}), std::nullopt);
  EXPECT_EQ(state_.pc, 0x402000u);
  EXPECT_EQ(state_.fp, kStack + 0x40);
}

TEST_F(AArch64Test, TheCfaOnX29) {
  Put(0x40, kStack + 0x100);
  Put(0x48, 0x403000);
  EXPECT_EQ(Apply({.cfa = OnReg(kAArch64Fp, 16), .ra = AtCfa(-8), .fp = AtCfa(-16)}), std::nullopt);
  EXPECT_EQ(state_.sp, kStack + 0x50);
  EXPECT_EQ(state_.pc, 0x403000u);
  EXPECT_EQ(state_.fp, kStack + 0x100);
}

TEST_F(AArch64Test, SignaturesAreRemovedWhereTheRowSaysSo) {
  Row row = kFramedRow;
  row.mangled_ra = true;
  Put(8, 0x12af'ffff'8040'2000);
  for (auto [va_bits, expected] : std::map<int, uint64_t>{{39, 0x7f'8040'2000}, {48, 0xffff'8040'2000}}) {
    state_.sp = kStack;
    state_.va_bits = static_cast<uint8_t>(va_bits);
    EXPECT_EQ(Apply(row), std::nullopt);
    EXPECT_EQ(state_.pc, expected) << va_bits;
  }
  state_.sp = kStack;
  EXPECT_EQ(Apply(kFramedRow), std::nullopt);
  EXPECT_EQ(state_.pc, 0x12af'ffff'8040'2000u) << "not signed: it is no address, which the mappings will tell";
}

TEST_F(AArch64Test, ASignedX30) {
  Row row = kLeafRow;
  row.mangled_ra = true;
  state_.lr = 0x00a1'0000'0040'1234;
  EXPECT_EQ(Apply(row), std::nullopt);
  EXPECT_EQ(state_.pc, 0x401234u);
}

TEST_F(AArch64Test, TheOutermostFrame) {
  EXPECT_EQ(Apply(Row()), EndReason::kComplete);
  EXPECT_EQ(Apply(kFramedRow), EndReason::kComplete) << "a return address of 0";
  Row signed_row = kFramedRow;
  signed_row.mangled_ra = true;
  Put(8, 0x12af'0000'0000'0000);
  EXPECT_EQ(Apply(signed_row), EndReason::kComplete) << "a signed 0";
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
  EXPECT_EQ(Apply(kAArch64ContextRow), std::nullopt);
  EXPECT_EQ(state_.pc, 0x405678u);
  EXPECT_EQ(state_.sp, kStack + 0x380);
  EXPECT_EQ(state_.fp, kStack + 0x3c0);
  EXPECT_TRUE(state_.exact) << "it was interrupted there";
  EXPECT_TRUE(state_.lr_known);
  EXPECT_EQ(Apply(kLeafRow), std::nullopt);
  EXPECT_EQ(state_.pc, 0x404444u);
}

TEST_F(AArch64Test, ATrampolineWithoutAContext) {
  EXPECT_EQ(Apply(kAArch64ContextRow), EndReason::kBadCfa) << "sp is 0";
  Put(560, kStack + 0x380);
  EXPECT_EQ(Apply(kAArch64ContextRow), EndReason::kBadReturnAddress) << "pc is 0";
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
      {"on a register that is not tracked", OnReg(19, 16), EndReason::kRegisterUnknown},
  };
  for (const Case& c : cases) EXPECT_EQ(Apply({.cfa = c.cfa, .ra = AtCfa(-8), .fp = kUnchanged}), c.reason) << c.name;
  state_.fp = UINT64_MAX - 7;
  EXPECT_EQ(Apply({.cfa = OnReg(kAArch64Fp, 16), .ra = AtCfa(-8), .fp = kUnchanged}), EndReason::kBadCfa) << "wraps";
}

TEST_F(AArch64Test, ReadsOutsideTheStack) {
  EXPECT_EQ(Apply({.cfa = OnReg(kAArch64Sp, 16), .ra = AtCfa(-24), .fp = kUnchanged}), EndReason::kBadMemory);
  EXPECT_EQ(Apply({.cfa = OnReg(kAArch64Sp, 0x400), .ra = AtCfa(0), .fp = kUnchanged}), EndReason::kBadMemory);
}

TEST_F(AArch64Test, AFramePointerThatCannotBeReadEndsNothing) {
  Put(8, 0x402000);
  EXPECT_EQ(Apply({.cfa = OnReg(kAArch64Sp, 16), .ra = AtCfa(-8), .fp = AtCfa(-64)}), std::nullopt);
  EXPECT_FALSE(state_.fp_known);
  EXPECT_EQ(Apply({.cfa = OnReg(kAArch64Fp, 16), .ra = AtCfa(-8), .fp = kUnchanged}), EndReason::kRegisterUnknown);
}

}  // namespace
}  // namespace offcpu

#include "unwind/eh_frame.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/unwind/cfi_bytes.h"
#include "unwind/eh_frame_index.h"

namespace offcpu {
namespace {

constexpr uint64_t kCode = 0x1000;

class EhFrameTest : public ::testing::Test {
 protected:
  // The row at `offset` of a function of 0x100 bytes with these instructions.
  FindOutcome Find(const std::vector<uint8_t>& instructions, uint64_t offset = 0, std::string_view letters = "zR") {
    CfiBytes cfi;
    cfi.Fde(cfi.Cie(letters), kCode, 0x100, instructions);
    auto table = EhFrameTable::Open(cfi.Table(), kX86_64);
    EXPECT_NE(table, nullptr);
    row = UnwindRow();
    return table->Find(kCode + offset, &row);
  }
  UnwindRow row;
};

CfaRule Cfa(uint8_t reg, int32_t offset) { return {.offset = offset, .addend = 0, .reg = reg, .deref = false}; }
CfaRule CfaAt(uint8_t reg, int32_t offset, int32_t addend) {
  return {.offset = offset, .addend = addend, .reg = reg, .deref = true};
}
ValueRule AtCfa(int32_t offset) { return {.offset = offset, .place = Place::kAtCfa, .reg = 0}; }
ValueRule AtRegister(uint8_t reg, int32_t offset) {
  return {.offset = offset, .place = Place::kAtRegister, .reg = reg};
}
ValueRule InRegister(uint8_t reg) { return {.offset = 0, .place = Place::kInRegister, .reg = reg}; }

TEST_F(EhFrameTest, OfTheCieAlone) {
  ASSERT_EQ(Find({}, 5), FindOutcome::kFound);
  EXPECT_EQ(row.begin, kCode + 5);
  EXPECT_EQ(row.end, kCode + 0x100);
  EXPECT_EQ(row.cfa, Cfa(kRsp, 8));
  EXPECT_EQ(row.ra, AtCfa(-8));
  EXPECT_EQ(row.fp.place, Place::kUnchanged);
  EXPECT_FALSE(row.signal);
  EXPECT_EQ(row.source, FrameSource::kEhFrame);
}

// push %rbp at 0; mov %rsp, %rbp at 1; leave at 0x1f; ret
TEST_F(EhFrameTest, FunctionWithAFramePointer) {
  const std::vector<uint8_t> instructions = {0x41,          // advance 1
                                             0x0e, 16,      // def_cfa_offset 16
                                             0x86, 2,       // rbp at CFA - 16
                                             0x43,          // advance 3
                                             0x0d, 6,       // def_cfa_register rbp
                                             0x5b,          // advance 27
                                             0x0c, 7,  8};  // def_cfa rsp 8
  ASSERT_EQ(Find(instructions, 0), FindOutcome::kFound);
  EXPECT_EQ(row.cfa, Cfa(kRsp, 8));
  EXPECT_EQ(row.end, kCode + 1);
  ASSERT_EQ(Find(instructions, 1), FindOutcome::kFound);
  EXPECT_EQ(row.cfa, Cfa(kRsp, 16));
  EXPECT_EQ(row.fp, AtCfa(-16));
  EXPECT_EQ(row.end, kCode + 4);
  ASSERT_EQ(Find(instructions, 4), FindOutcome::kFound);
  EXPECT_EQ(row.cfa, Cfa(kRbp, 16));
  EXPECT_EQ(row.end, kCode + 31);
  ASSERT_EQ(Find(instructions, 31), FindOutcome::kFound);
  EXPECT_EQ(row.cfa, Cfa(kRsp, 8));
}

// An early return: the state before it holds again behind it. Where such a row began is not to be believed.
TEST_F(EhFrameTest, RestoredState) {
  const std::vector<uint8_t> instructions = {0x41, 0x0e, 16,  // at 1: CFA = rsp + 16
                                             0x44, 0x0a,      // at 5: remember
                                             0x0e, 8,         //       CFA = rsp + 8
                                             0x41, 0x0b};     // at 6: restore
  ASSERT_EQ(Find(instructions, 5), FindOutcome::kFound);
  EXPECT_EQ(row.cfa, Cfa(kRsp, 8));
  ASSERT_EQ(Find(instructions, 8), FindOutcome::kFound);
  EXPECT_EQ(row.cfa, Cfa(kRsp, 16));
  EXPECT_EQ(row.begin, kCode + 8);
  EXPECT_EQ(row.end, kCode + 0x100);
}

TEST_F(EhFrameTest, Outermost) {
  ASSERT_EQ(Find({0x07, 16}), FindOutcome::kFound);  // undefined rip
  EXPECT_EQ(row.ra.place, Place::kUndefined);
}

TEST_F(EhFrameTest, ReturnAddressInARegister) {
  ASSERT_EQ(Find({0x09, 16, 5}), FindOutcome::kFound);  // rip in rdi
  EXPECT_EQ(row.ra, InRegister(kRdi));
}

// The hand-written table of a signal trampoline.
TEST_F(EhFrameTest, SignalFrame) {
  const std::vector<uint8_t> instructions = {0x0f, 4,  0x77, 0xa0, 1,    0x06,  // CFA = *(rsp + 160)
                                             0x10, 16, 3,    0x77, 0xa8, 1,     // RA at rsp + 168
                                             0x10, 6,  3,    0x77, 0xf8, 0};    // FP at rsp + 120
  ASSERT_EQ(Find(instructions, 0, "zRS"), FindOutcome::kFound);
  EXPECT_TRUE(row.signal);
  EXPECT_EQ(row.cfa, CfaAt(kRsp, 160, 0));
  EXPECT_EQ(row.ra, AtRegister(kRsp, 168));
  EXPECT_EQ(row.fp, AtRegister(kRsp, 120));
}

TEST_F(EhFrameTest, CfaExpressions) {
  ASSERT_EQ(Find({0x0f, 3, 0x76, 0x78, 0x06}), FindOutcome::kFound);  // *(rbp - 8)
  EXPECT_EQ(row.cfa, CfaAt(kRbp, -8, 0));
  ASSERT_EQ(Find({0x0f, 5, 0x77, 16, 0x06, 0x23, 8}), FindOutcome::kFound);  // *(rsp + 16) + 8
  EXPECT_EQ(row.cfa, CfaAt(kRsp, 16, 8));
  ASSERT_EQ(Find({0x0f, 2, 0x7a, 4}), FindOutcome::kFound);  // r10 + 4
  EXPECT_EQ(row.cfa, Cfa(kR10, 4));
  // breg6 0; deref; lit16; plus: SBCL's call_into_lisp_
  ASSERT_EQ(Find({0x0f, 5, 0x76, 0, 0x06, 0x40, 0x22}), FindOutcome::kFound);
  EXPECT_EQ(row.cfa, CfaAt(kRbp, 0, 16));
}

// A stub of a lazy PLT jumps at its byte 0, pushes a word at 6 and jumps at 11; one of an IBT PLT pushes at 4.
TEST_F(EhFrameTest, Plt) {
  const auto plt = [](uint8_t pushed_at) {
    return std::vector<uint8_t>{0x0f, 11,   0x77, 8,   0x80, 0, 0x3f, 0x1a, static_cast<uint8_t>(0x30 + pushed_at),
                                0x2a, 0x33, 0x24, 0x22};
  };
  for (const uint8_t pushed_at : {uint8_t{11}, uint8_t{9}}) {
    for (uint64_t offset = 0; offset < 0x100; ++offset) {
      const uint64_t in_block = offset % 16;
      ASSERT_EQ(Find(plt(pushed_at), offset), FindOutcome::kFound) << offset;
      EXPECT_EQ(row.cfa, Cfa(kRsp, in_block < pushed_at ? 8 : 16)) << offset;
      EXPECT_EQ(row.begin, kCode + offset);
      EXPECT_EQ(row.end, kCode + offset - in_block + (in_block < pushed_at ? pushed_at : 16)) << offset;
    }
  }
  std::vector<uint8_t> other = plt(11);
  for (size_t at = 2; at < other.size(); ++at) {  // any other number or operation
    other[at] = static_cast<uint8_t>(other[at] ^ 0x40);
    EXPECT_EQ(Find(other), FindOutcome::kExpression) << at;
    other[at] = static_cast<uint8_t>(other[at] ^ 0x40);
  }
}

TEST_F(EhFrameTest, Rbx) {
  ASSERT_EQ(Find({0x83, 3}), FindOutcome::kFound);  // rbx at CFA - 24
  EXPECT_EQ(row.extra, AtCfa(-24));
  ASSERT_EQ(Find({}), FindOutcome::kFound);
  EXPECT_EQ(row.extra.place, Place::kUnchanged);
}

// A function that returns has popped its registers, and one that calls nobody may use the 128 bytes below the stack
// pointer all the time: the place that a row names may lie there.
TEST_F(EhFrameTest, PlacesBelowTheStackPointer) {
  const std::vector<uint8_t> instructions = {0x41, 0x0e, 16, 0x86, 2,  // at 1: CFA = rsp + 16, rbp at CFA - 16
                                             0x50, 0x0e, 8};           // at 0x11: CFA = rsp + 8
  ASSERT_EQ(Find(instructions, 0x11), FindOutcome::kFound);
  EXPECT_EQ(row.fp, AtCfa(-16));
  ASSERT_EQ(Find({0x44, 0x86, 2, 0x83, 3}, 5), FindOutcome::kFound);
  EXPECT_EQ(row.fp, AtCfa(-16));
  EXPECT_EQ(row.extra, AtCfa(-24));
}

TEST_F(EhFrameTest, WhatARowCannotHold) {
  EXPECT_EQ(Find({0x0f, 7, 0x77, 8, 0x79, 0, 0x38, 0x1e, 0x22}), FindOutcome::kExpression) << "rsp + 8 + r9 * 8";
  EXPECT_EQ(Find({0x0f, 0}), FindOutcome::kExpression) << "empty";
  EXPECT_EQ(Find({0x0f, 3, 0x77, 8, 0x96}), FindOutcome::kExpression) << "an operation too many";
  EXPECT_EQ(Find({0x0f, 1, 0xff}), FindOutcome::kExpression) << "unknown operation";
  EXPECT_EQ(Find({0x0f, 2, 0x23, 8}), FindOutcome::kExpression) << "no register";
  EXPECT_EQ(Find({0x0f, 4, 0x76, 0, 0x06, 0x40}), FindOutcome::kExpression) << "a number that nothing is done with";
  EXPECT_EQ(Find({0x0f, 5, 0x76, 0, 0x06, 0x40, 0x1c}), FindOutcome::kExpression) << "minus 16";
  EXPECT_EQ(Find({0x0f, 5, 0x76, 0, 0x06, 0x50, 0x22}), FindOutcome::kExpression) << "plus a register";
  EXPECT_EQ(Find({0x0c, 17, 8}), FindOutcome::kExpression) << "a vector register";
  EXPECT_EQ(Find({0x0e, 0x80, 0x80, 0x80, 0x80, 8}), FindOutcome::kExpression) << "2^31";
  EXPECT_EQ(Find({0x14, 16, 1}), FindOutcome::kExpression) << "RA is CFA + n itself";
  EXPECT_EQ(Find({0x16, 16, 2, 0x77, 8}), FindOutcome::kExpression) << "RA is rsp + 8 itself";
  EXPECT_EQ(Find({0x08, 16}), FindOutcome::kExpression) << "RA unchanged";
  EXPECT_EQ(Find({0x09, 16, 17}), FindOutcome::kExpression) << "RA in a vector register";
}

TEST_F(EhFrameTest, FramePointerThatARowCannotHoldIsUnknown) {
  ASSERT_EQ(Find({0x14, 6, 1}), FindOutcome::kFound);
  EXPECT_EQ(row.fp.place, Place::kUndefined);
}

TEST_F(EhFrameTest, Limits) {
  ASSERT_EQ(Find({0x0e, 0xff, 0xff, 0xff, 0xff, 7}), FindOutcome::kFound);  // 2^31 - 1
  EXPECT_EQ(row.cfa, Cfa(kRsp, INT32_MAX));
  ASSERT_EQ(Find({0x12, 7, 0x80, 0x80, 0x80, 0x80, 1}), FindOutcome::kFound);  // def_cfa_sf rsp 2^28 * -8
  EXPECT_EQ(row.cfa, Cfa(kRsp, INT32_MIN));
}

TEST_F(EhFrameTest, OutsideOfEveryEntry) {
  CfiBytes cfi;
  const size_t cie = cfi.Cie();
  cfi.Fde(cie, 0x1000, 0x10, {});
  cfi.Fde(cie, 0x1020, 0x10, {});
  auto table = EhFrameTable::Open(cfi.Table(), kX86_64);
  ASSERT_NE(table, nullptr);
  for (uint64_t address : {0x0, 0xfff, 0x1010, 0x101f, 0x1030}) {
    EXPECT_EQ(table->Find(address, &row), FindOutcome::kNotHere) << address;
  }
  EXPECT_EQ(table->Find(0x1000, &row), FindOutcome::kFound);
  EXPECT_EQ(table->Find(0x102f, &row), FindOutcome::kFound);
  EXPECT_EQ(table->Find(UINT64_MAX, &row), FindOutcome::kNotHere);
}

// libdw is asked nothing about an entry that was found bad, though it lies in the table that it has.
TEST_F(EhFrameTest, BadEntriesAreNotThere) {
  CfiBytes cfi;
  const size_t cie = cfi.Cie();
  cfi.Fde(cie, 0x1000, 0x10, {0x0f});
  auto table = EhFrameTable::Open(cfi.Table(), kX86_64);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->bad_entries(), 1u);
  EXPECT_EQ(table->Find(0x1000, &row), FindOutcome::kNotHere);
  cfi.Fde(cie, 0x1020, 0x10, {});
  table = EhFrameTable::Open(cfi.Table(), kX86_64);
  EXPECT_EQ(table->Find(0x1000, &row), FindOutcome::kNotHere);
  EXPECT_EQ(table->Find(0x1020, &row), FindOutcome::kFound);
}

TEST_F(EhFrameTest, EntryThatCannotBeExecuted) {
  EXPECT_EQ(Find({0x0f, 2, 0x77, 8, 0x0e, 8}), FindOutcome::kExpression);  // an offset for an expression
  CfiBytes cfi;
  // restore in a CIE: there is nothing yet to restore
  std::vector<uint8_t> body = {0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0xc6};
  cfi.Fde(cfi.Entry(body), kCode, 0x100, {});
  auto table = EhFrameTable::Open(cfi.Table(), kX86_64);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->Find(kCode, &row), FindOutcome::kCorrupt);
}

// libdw keeps 32 bytes of each operation, of which there is one more than the table has where a register is saved.
TEST_F(EhFrameTest, ExpressionsThatWereAskedForCount) {
  CfiBytes cfi;
  const size_t cie = cfi.Cie();
  cfi.Fde(cie, 0x1000, 0x10, {});
  cfi.Fde(cie, 0x1010, 0x10,
          {0x0f, 3, 0x76, 0x78, 0x06,  // CFA = *(rbp - 8)
           0x10, 3, 2, 0x76, 0x70});   // rbx at rbp - 16
  auto table = EhFrameTable::Open(cfi.Table(), kX86_64);
  ASSERT_NE(table, nullptr);
  const size_t bytes = table->bytes();
  ASSERT_EQ(table->Find(0x1000, &row), FindOutcome::kFound);
  EXPECT_EQ(table->bytes(), bytes);
  ASSERT_EQ(table->Find(0x1010, &row), FindOutcome::kFound);
  EXPECT_EQ(row.extra, AtRegister(kRbp, -16));
  EXPECT_GE(table->bytes(), bytes + (2 + 2) * 32);
}

TEST_F(EhFrameTest, NoEntries) {
  auto table = EhFrameTable::Open(ModuleTable(), kX86_64);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->Find(0x1000, &row), FindOutcome::kNotHere);
}

TEST_F(EhFrameTest, BrokenTable) {
  CfiBytes cfi;
  cfi.Cie();
  cfi.bytes.push_back(1);
  EXPECT_EQ(EhFrameTable::Open(cfi.Table(), kX86_64), nullptr);
}

// Wherever tables lie, also where the addresses in front of them would be negative.
TEST_F(EhFrameTest, AddressOfTheTable) {
  for (uint64_t shift : {uint64_t{0} - CfiBytes::kAddress, uint64_t{1} << 46, uint64_t{7}}) {
    CfiBytes cfi;
    cfi.Fde(cfi.Cie(), kCode, 0x10, {});
    ModuleTable moved = cfi.Table();
    moved.address += shift;
    auto table = EhFrameTable::Open(moved, kX86_64);
    ASSERT_NE(table, nullptr);
    if (kCode + shift > kCode) {
      EXPECT_EQ(table->Find(kCode + shift, &row), FindOutcome::kFound) << shift;
    }
  }
}

TEST_F(EhFrameTest, DamagedTables) {
  CfiBytes cfi;
  const size_t cie = cfi.Cie("zRS", {0x1b});
  cfi.Fde(cie, 0x1000, 0x40, {0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 16, 3, 0x77, 0xa8, 1});
  cfi.Fde(cie, 0x1040, 0x40, {0x41, 0x0e, 16, 0x86, 2, 0x0a, 0x44, 0x0d, 6, 0x0b, 0x09, 16, 2});
  const ModuleTable good = cfi.Table();
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    ModuleTable damaged = good;
    for (int n = 0; n < 3; ++n) damaged.bytes[random() % good.bytes.size()] = static_cast<std::byte>(random());
    auto index = IndexEhFrame(damaged, kX86_64);
    auto table = EhFrameTable::Open(damaged, kX86_64);
    ASSERT_EQ(index.has_value(), table != nullptr);
    if (table == nullptr) continue;
    for (const FdeSpan& fde : index->fdes) {
      for (uint64_t address : {fde.begin, fde.end - 1}) {
        if (table->Find(address, &row) != FindOutcome::kFound) continue;
        ASSERT_LE(row.begin, address);
        ASSERT_GT(row.end, address);
      }
    }
  }
}

}  // namespace
}  // namespace offcpu

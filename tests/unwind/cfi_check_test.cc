#include "unwind/cfi_check.h"

#include <gtest/gtest.h>

#include <vector>

namespace offcpu {
namespace {

bool WellFormed(const std::vector<uint8_t>& bytes) { return CfiWellFormed(kX86_64, std::as_bytes(std::span(bytes))); }

std::vector<uint8_t> operator+(std::vector<uint8_t> a, const std::vector<uint8_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// One of each, and what of it may be cut off and still be whole.
const std::vector<std::vector<uint8_t>>& Instructions() {
  static const std::vector<std::vector<uint8_t>> all = {
      {0x00},                    // nop
      {0x41},                    // advance_loc 1
      {0x02, 0x10},              // advance_loc1
      {0x03, 0x10, 0x00},        // advance_loc2
      {0x04, 0x10, 0, 0, 0},     // advance_loc4
      {0x05, 0x06, 0x02},        // offset_extended
      {0x06, 0x10},              // restore_extended
      {0x07, 0x10},              // undefined
      {0x08, 0x06},              // same_value
      {0x09, 0x10, 0x02},        // register
      {0x0c, 0x07, 0x08},        // def_cfa
      {0x0d, 0x06},              // def_cfa_register
      {0x0e, 0x80, 0x01},        // def_cfa_offset 128
      {0x0f, 0x02, 0x77, 0x08},  // def_cfa_expression: breg7 8
      {0x10, 0x10, 0x01, 0x30},  // expression
      {0x11, 0x06, 0x7e},        // offset_extended_sf
      {0x12, 0x07, 0x7f},        // def_cfa_sf
      {0x13, 0x7f},              // def_cfa_offset_sf
      {0x14, 0x06, 0x02},        // val_offset
      {0x15, 0x06, 0x7e},        // val_offset_sf
      {0x16, 0x06, 0x01, 0x30},  // val_expression
      {0x2e, 0x10},              // GNU_args_size
      {0x2f, 0x06, 0x02},        // GNU_negative_offset_extended
      {0x86, 0x02},              // offset 6
      {0xc6},                    // restore 6
  };
  return all;
}

TEST(CfiCheckTest, EveryInstructionAndEveryPrefixOfIt) {
  EXPECT_TRUE(WellFormed({}));
  for (const std::vector<uint8_t>& instruction : Instructions()) {
    EXPECT_TRUE(WellFormed(instruction)) << int{instruction[0]};
    EXPECT_TRUE(WellFormed(instruction + instruction)) << int{instruction[0]};
    for (size_t size = 1; size < instruction.size(); ++size) {
      EXPECT_FALSE(WellFormed({instruction.begin(), instruction.begin() + static_cast<ptrdiff_t>(size)}))
          << int{instruction[0]} << " cut to " << size;
    }
  }
}

TEST(CfiCheckTest, UnknownInstructions) {
  for (int opcode : {0x01, 0x17, 0x1c, 0x1d, 0x2d, 0x30, 0x3f}) {
    EXPECT_FALSE(WellFormed({static_cast<uint8_t>(opcode), 0, 0, 0, 0, 0, 0, 0, 0})) << opcode;
  }
}

TEST(CfiCheckTest, RegisterNumbers) {
  EXPECT_TRUE(WellFormed({0x07, 0x7f}));         // 127
  EXPECT_FALSE(WellFormed({0x07, 0x80, 0x01}));  // 128
  EXPECT_FALSE(WellFormed({0x09, 0x10, 0x80, 0x01}));
  EXPECT_FALSE(WellFormed({0x05, 0x80, 0x80, 0x80, 0x40, 0x02}));
}

// Each names 32 at most, or 33.
TEST(CfiCheckTest, RegisterNumbersOfACie) {
  const std::vector<std::vector<uint8_t>> within = {
      {0x07, 0x20},              // undefined
      {0x09, 0x20, 0x20},        // register
      {0x16, 0x20, 0x01, 0x30},  // val_expression
      {0xa0, 0x02},              // offset
      {0xe0},                    // restore
      {0x61},                    // advance_loc 33: no register
  };
  const std::vector<std::vector<uint8_t>> beyond = {
      {0x07, 0x21},              // undefined
      {0x09, 0x20, 0x21},        // register
      {0x09, 0x21, 0x20},        // register
      {0x16, 0x21, 0x01, 0x30},  // val_expression
      {0xa1, 0x02},              // offset
      {0xe1},                    // restore
  };
  for (const std::vector<uint8_t>& instruction : within) {
    EXPECT_TRUE(CfiWellFormed(kX86_64, std::as_bytes(std::span(instruction)), kMaxCieRegister)) << int{instruction[0]};
  }
  for (const std::vector<uint8_t>& instruction : beyond) {
    EXPECT_FALSE(CfiWellFormed(kX86_64, std::as_bytes(std::span(instruction)), kMaxCieRegister)) << int{instruction[0]};
    EXPECT_TRUE(WellFormed(instruction)) << int{instruction[0]};
  }
}

TEST(CfiCheckTest, LongNumbers) {
  EXPECT_TRUE(WellFormed({0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}));
  EXPECT_FALSE(WellFormed({0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00}));
}

TEST(CfiCheckTest, RememberedStates) {
  EXPECT_TRUE(WellFormed({0x0a, 0x0b, 0x0a, 0x0b}));
  EXPECT_TRUE(WellFormed({0x0a})) << "need not be restored";
  EXPECT_FALSE(WellFormed({0x0b}));
  EXPECT_FALSE(WellFormed({0x0a, 0x0b, 0x0b}));
  std::vector<uint8_t> deep(kMaxCfiRememberedStates, 0x0a);
  EXPECT_TRUE(WellFormed(deep));
  deep.push_back(0x0a);
  EXPECT_FALSE(WellFormed(deep));
  std::vector<uint8_t> many;  // one after the other
  for (size_t i = 0; i < kMaxCfiRememberings; ++i) many.insert(many.end(), {0x0a, 0x0b});
  EXPECT_TRUE(WellFormed(many));
  many.push_back(0x0a);
  EXPECT_FALSE(WellFormed(many));
}

TEST(CfiCheckTest, Expressions) {
  auto of_size = [](size_t size) {
    return std::vector<uint8_t>{0x0f, static_cast<uint8_t>(0x80 | (size & 0x7f)), static_cast<uint8_t>(size >> 7)} +
           std::vector<uint8_t>(size, 0x96);
  };
  EXPECT_TRUE(WellFormed(of_size(kMaxCfiExpressionBytes)));
  EXPECT_FALSE(WellFormed(of_size(kMaxCfiExpressionBytes + 1)));
}

TEST(CfiCheckTest, AsLongAsAllowed) {
  EXPECT_TRUE(WellFormed(std::vector<uint8_t>(kMaxCfiBytes)));
  EXPECT_FALSE(WellFormed(std::vector<uint8_t>(kMaxCfiBytes + 1)));
}

// DW_CFA_AARCH64_negate_ra_state has no operands. On SPARC it is an instruction with a side effect on registers.
TEST(CfiCheckTest, SignaturesAreOfAArch64) {
  const std::vector<uint8_t> instructions = {0x41, 0x2d, 0x0e, 0x20, 0x2d};
  const auto bytes = std::as_bytes(std::span(instructions));
  EXPECT_TRUE(CfiWellFormed(kAArch64, bytes));
  EXPECT_FALSE(CfiWellFormed(kX86_64, bytes));
  EXPECT_FALSE(CfiWellFormed(kI386, bytes));
  EXPECT_FALSE(CfiWellFormed(kAArch64, bytes.first(4).subspan(2, 1))) << "what follows is checked as well";
}

}  // namespace
}  // namespace offcpu

#include "bpf_programs/user_rows.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace offcpu {
namespace {

constexpr uint64_t kCodeHash = 77;
constexpr wire_hash_key kKey = {.low = 5, .high = 6};

TEST(UserRow, IsOneWord) {
  // 1 << 63: there is one; 2 << 4: the CFA is sp + 16; no frame pointer is stored.
  EXPECT_EQ(PackUserRow({.lookup_pc = 1, .cfa_offset = 16}), uint64_t{1} << 63 | 2 << 4);
  // 1: from the frame pointer; 1 << 2: the caller's is stored, -2 words from the CFA: 24 bits from bit 28 on.
  EXPECT_EQ(PackUserRow({.cfa = UserRow::Cfa::kFramePointer,
                         .cfa_offset = 16,
                         .fp = UserRow::FramePointer::kAtCfa,
                         .fp_offset = -16}),
            uint64_t{1} << 63 | uint64_t{0xfffffe} << 28 | 2 << 4 | 1 << 2 | 1);
  EXPECT_EQ(PackUserRow({.cfa_offset = 8, .fp = UserRow::FramePointer::kLost}), uint64_t{1} << 63 | 1 << 4 | 2 << 2);
  EXPECT_EQ(PackUserRow({.cfa = UserRow::Cfa::kNone}), uint64_t{1} << 63 | 2);
}

TEST(UserRow, HasOffsetsOfTwentyFourBitsOfWords) {
  constexpr int64_t kMost = ((int64_t{1} << 23) - 1) * 8;
  constexpr int64_t kLeast = -(int64_t{1} << 23) * 8;
  EXPECT_NE(PackUserRow({.cfa_offset = kMost}), 0u);
  EXPECT_EQ(PackUserRow({.cfa_offset = kMost + 8}), 0u);
  EXPECT_NE(PackUserRow({.cfa_offset = 8, .fp_offset = kLeast}), 0u);
  EXPECT_EQ(PackUserRow({.cfa_offset = 8, .fp_offset = kLeast - 8}), 0u);
  EXPECT_EQ(PackUserRow({.cfa_offset = 12}), 0u) << "not in words";
}

// 8 << 52 and 3 << 56: words below the frame pointer; 1 << 60: the caller's stack pointer is kept in one.
// x86-64 has no other place for it.
TEST(UserRow, HasItsReturnAddressBelowTheCfa) {
  EXPECT_NE(PackUserRow({.cfa_offset = 16, .ra_offset = -8}), 0u);
  EXPECT_EQ(PackUserRow({.cfa_offset = 16, .ra_offset = 0}), 0u);
  EXPECT_EQ(PackUserRow({.cfa_offset = 16, .ra_offset = -16}), 0u);
}

TEST(UserRow, HasWhatAnInterpretersFrameShows) {
  const UserRow row = {.cfa = UserRow::Cfa::kFramePointer, .cfa_offset = 16, .shown = {8, 3}, .keeps_sp = true};
  EXPECT_EQ(PackUserRow(row),
            uint64_t{1} << 63 | uint64_t{1} << 60 | uint64_t{3} << 56 | uint64_t{8} << 52 | 2 << 4 | 1);
  EXPECT_NE(PackUserRow({.cfa_offset = 8, .shown = {15, 15}}), 0u);
  EXPECT_EQ(PackUserRow({.cfa_offset = 8, .shown = {0, 16}}), 0u);
}

// 1 << 61; 48 bits of the address, and 12 of the offset in units of 4 bytes.
TEST(UserRow, SaysWhereAVersionLies) {
  EXPECT_EQ(PackVersionRow({.version_address = 0x7f0000000f80, .version_offset = 0x40}),
            uint64_t{1} << 63 | uint64_t{1} << 61 | uint64_t{0x10} << 48 | 0x7f0000000f80);
  EXPECT_EQ(PackVersionRow({.version_address = 0xffffffffffff, .version_offset = 4095 * 4}),
            uint64_t{1} << 63 | uint64_t{1} << 61 | uint64_t{0xfff} << 48 | 0xffffffffffff);
  EXPECT_EQ(PackVersionRow({.version_address = uint64_t{1} << 48}), 0u);
  EXPECT_EQ(PackVersionRow({.version_address = 8, .version_offset = 4096 * 4}), 0u);
  EXPECT_EQ(PackVersionRow({.version_address = 8, .version_offset = 6}), 0u);
}

class UserRowTablesTest : public testing::Test {
 protected:
  void Make(size_t buckets) {
    rows_.assign(buckets, {});
    stacks_.assign(buckets, {});
    tables_.emplace(kKey, rows_, stacks_);
  }

  // As the BPF programs find it; 0: none.
  uint64_t FindRow(uint64_t lookup_pc) const {
    const uint64_t key = wire_user_row_key(wire_user_rows_begin(kKey, kCodeHash), lookup_pc);
    for (const wire_user_row& place : rows_[wire_bucket(key, static_cast<uint32_t>(rows_.size()))].rows) {
      if ((place.check ^ place.row) == key) return place.row;
    }
    return 0;
  }
  bool HasStack(uint64_t id) const {
    const wire_user_stack_bucket& bucket = stacks_[wire_bucket(id, static_cast<uint32_t>(stacks_.size()))];
    for (const uint64_t place : bucket.ids) {
      if (place == id) return true;
    }
    return false;
  }
  static ToldWalk AWalk(uint64_t id, const std::vector<uint64_t>& lookup_pcs) {
    ToldWalk walk = {.code_hash = kCodeHash, .stack_id = id, .rows = {}};
    for (const uint64_t pc : lookup_pcs) {
      walk.rows.push_back({.lookup_pc = pc, .cfa_offset = static_cast<int64_t>(8 * pc)});
    }
    return walk;
  }

  std::vector<wire_user_row_bucket> rows_;
  std::vector<wire_user_stack_bucket> stacks_;
  std::optional<UserRowTables> tables_;
};

TEST_F(UserRowTablesTest, WhatWasToldIsFound) {
  Make(64);
  tables_->Tell(AWalk(5, {10, 20}));
  EXPECT_EQ(FindRow(10), PackUserRow({.lookup_pc = 10, .cfa_offset = 80}));
  EXPECT_EQ(FindRow(20), PackUserRow({.lookup_pc = 20, .cfa_offset = 160}));
  EXPECT_EQ(FindRow(30), 0u);
  EXPECT_TRUE(HasStack(5));
  EXPECT_FALSE(HasStack(6));
}

TEST_F(UserRowTablesTest, AnEmptyPlaceIsNoRow) {
  Make(1);
  for (uint64_t pc = 0; pc < 1000; ++pc) EXPECT_EQ(FindRow(pc), 0u);
}

TEST_F(UserRowTablesTest, OfAWalkWithARowThatHasNoWordNothingIsTold) {
  Make(64);
  ToldWalk walk = AWalk(5, {10, 20});
  walk.rows[1].cfa_offset = 13;
  tables_->Tell(walk);
  EXPECT_EQ(FindRow(10), 0u);
  EXPECT_FALSE(HasStack(5));
}

TEST_F(UserRowTablesTest, MadeCodeHasARowForEachVersion) {
  Make(64);
  ToldWalk walk = AWalk(5, {10});
  walk.rows[0].version_address = 0x1000;
  for (const uint64_t version : {0x700000, 0x900000}) {
    walk.rows[0].version = version;
    walk.rows[0].cfa_offset = static_cast<int64_t>(version >> 16);
    tables_->Tell(walk);
  }
  EXPECT_EQ(FindRow(10), PackVersionRow({.version_address = 0x1000}));
  EXPECT_EQ(FindRow(10 ^ 0x700000), PackUserRow({.cfa_offset = 0x70}));
  EXPECT_EQ(FindRow(10 ^ 0x900000), PackUserRow({.cfa_offset = 0x90}));
  EXPECT_EQ(FindRow(10 ^ 0x800000), 0u);
}

TEST_F(UserRowTablesTest, MadeCodeWhoseVersionHasNoWordIsNotTold) {
  Make(64);
  ToldWalk walk = AWalk(5, {10, 20});
  walk.rows[1].version = 7;
  walk.rows[1].version_address = uint64_t{1} << 48;
  tables_->Tell(walk);
  EXPECT_EQ(FindRow(10), 0u);
  EXPECT_FALSE(HasStack(5));
}

TEST_F(UserRowTablesTest, TheNewerRowOfAnAddressStays) {
  Make(64);
  ToldWalk walk = AWalk(5, {10});
  tables_->Tell(walk);
  walk.rows[0].cfa_offset = 8;
  tables_->Tell(walk);
  EXPECT_EQ(FindRow(10), PackUserRow({.lookup_pc = 10, .cfa_offset = 8}));
}

TEST_F(UserRowTablesTest, AFullBucketTakesWhatCameLast) {
  Make(1);
  for (uint64_t pc = 1; pc <= WIRE_BUCKET_ROWS + 1; ++pc) tables_->Tell(AWalk(100 + pc, {pc}));
  int found = 0;
  for (uint64_t pc = 1; pc <= WIRE_BUCKET_ROWS + 1; ++pc) found += FindRow(pc) != 0 ? 1 : 0;
  EXPECT_EQ(found, WIRE_BUCKET_ROWS);
  EXPECT_NE(FindRow(WIRE_BUCKET_ROWS + 1), 0u);
  for (uint64_t id = 1000; id <= 1000 + WIRE_BUCKET_STACKS; ++id) tables_->Tell(AWalk(id, {}));
  EXPECT_TRUE(HasStack(1000 + WIRE_BUCKET_STACKS));
  EXPECT_FALSE(HasStack(2000));
}

TEST_F(UserRowTablesTest, NothingIsLeftOfWhatWasForgotten) {
  Make(64);
  tables_->Tell(AWalk(5, {10, 20}));
  tables_->Clear();
  EXPECT_EQ(FindRow(10), 0u);
  EXPECT_FALSE(HasStack(5));
  tables_->Tell(AWalk(5, {10}));
  EXPECT_NE(FindRow(10), 0u);
}

TEST_F(UserRowTablesTest, CountsWhatThereIs) {
  Make(1);
  tables_->Tell(AWalk(5, {10, 20}));
  tables_->Tell(AWalk(6, {10}));
  EXPECT_EQ(tables_->rows(), 2u);
  EXPECT_EQ(tables_->stacks(), 2u);
  for (uint64_t pc = 1; pc <= 100; ++pc) tables_->Tell(AWalk(100 + pc, {pc}));
  EXPECT_EQ(tables_->rows(), size_t{WIRE_BUCKET_ROWS});
  EXPECT_EQ(tables_->stacks(), size_t{WIRE_BUCKET_STACKS});
  tables_->Clear();
  EXPECT_EQ(tables_->rows(), 0u);
  EXPECT_EQ(tables_->stacks(), 0u);
}

}  // namespace
}  // namespace offcpu

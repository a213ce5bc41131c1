#include "unwind/eh_frame_index.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstring>

#include "process/address_space.h"
#include "tests/unwind/cfi_bytes.h"

namespace offcpu {
namespace {

class EhFrameIndexTest : public ::testing::Test {
 protected:
  EhFrameIndex Index() {
    auto index = IndexEhFrame(cfi.Table(), kX86_64);
    EXPECT_TRUE(index.has_value());
    return index.value_or(EhFrameIndex());
  }
  CfiBytes cfi;
};

TEST_F(EhFrameIndexTest, SortsTheEntries) {
  const size_t cie = cfi.Cie();
  const size_t b = cfi.Fde(cie, 0x2000, 0x80, {});
  const size_t a = cfi.Fde(cie, 0x1000, 0x40, {0x41, 0x0e, 16});
  cfi.Number(0);
  EhFrameIndex index = Index();
  ASSERT_EQ(index.fdes.size(), 2u);
  EXPECT_EQ(index.fdes[0].begin, 0x1000u);
  EXPECT_EQ(index.fdes[0].end, 0x1040u);
  EXPECT_EQ(index.fdes[0].offset, a);
  EXPECT_EQ(index.fdes[1].begin, 0x2000u);
  EXPECT_EQ(index.fdes[1].offset, b);
  EXPECT_EQ(index.bad_entries, 0u);
}

TEST_F(EhFrameIndexTest, WhatFollowsTheEndIsIgnored) {
  const size_t cie = cfi.Cie();
  cfi.Number(0);
  cfi.Fde(cie, 0x1000, 0x40, {});
  EXPECT_TRUE(Index().fdes.empty());
}

TEST_F(EhFrameIndexTest, NoEndIsNeeded) {
  cfi.Fde(cfi.Cie(), 0x1000, 0x40, {});
  EXPECT_EQ(Index().fdes.size(), 1u);
}

TEST_F(EhFrameIndexTest, Empty) {
  EXPECT_TRUE(Index().fdes.empty());
  cfi.Number(0);
  EXPECT_TRUE(Index().fdes.empty());
}

TEST_F(EhFrameIndexTest, Encodings) {
  // absolute, eight bytes
  const size_t absolute = cfi.Cie("zR", {0x00});
  std::vector<uint8_t> body(4 + 8 + 8 + 1);
  const uint32_t id = static_cast<uint32_t>(cfi.bytes.size() + 4 - absolute);
  const uint64_t range[] = {0x123456789000, 0x10};
  std::memcpy(body.data(), &id, 4);
  std::memcpy(body.data() + 4, range, 16);
  cfi.Entry(body);
  // pc-relative, two bytes, signed: the size is, too
  const size_t small = cfi.Cie("zR", {0x1a});
  const size_t at = cfi.bytes.size();
  cfi.Entry({static_cast<uint8_t>(at + 4 - small), 0, 0, 0,  // distance to the CIE
             0xf0, 0xff,                                     // 16 before this field
             0x10, 0,                                        // size
             0});                                            // no augmentation data
  EhFrameIndex index = Index();
  ASSERT_EQ(index.fdes.size(), 2u);
  EXPECT_EQ(index.fdes[0].begin, CfiBytes::kAddress + at + 8 - 16);
  EXPECT_EQ(index.fdes[0].end, CfiBytes::kAddress + at + 8);
  EXPECT_EQ(index.fdes[1].begin, 0x123456789000u);
}

TEST_F(EhFrameIndexTest, Augmentations) {
  const size_t personality = cfi.Cie("zPLR", {0x9b, 1, 2, 3, 4, 0x1b, 0x1b});
  cfi.Fde(personality, 0x1000, 0x10, {});
  cfi.Fde(cfi.Cie("zRS", {0x1b}), 0x2000, 0x10, {});
  EXPECT_EQ(Index().fdes.size(), 2u);
  EXPECT_EQ(Index().bad_entries, 0u);
}

// Each a CIE that is left out, and with it its FDE.
TEST_F(EhFrameIndexTest, BadCies) {
  auto bad = [](std::string_view letters, std::vector<uint8_t> data) {
    CfiBytes table;
    table.Fde(table.Cie(letters, std::move(data)), 0x1000, 0x10, {});
    auto index = IndexEhFrame(table.Table(), kX86_64);
    return index && index->fdes.empty() && index->bad_entries == 2;
  };
  EXPECT_TRUE(bad("eh", {0x1b})) << "of GCC 2";
  EXPECT_TRUE(bad("zX", {0x1b})) << "unknown letter";
  EXPECT_TRUE(bad("R", {0x1b})) << "data without a length";
  EXPECT_TRUE(bad("zR", {})) << "data missing";
  EXPECT_TRUE(bad("zR", {0xff})) << "no addresses";
  EXPECT_TRUE(bad("zR", {0x9b})) << "indirect";
  EXPECT_TRUE(bad("zR", {0x3b})) << "data-relative: to what?";
  EXPECT_TRUE(bad("zR", {0x11})) << "of variable length";
  EXPECT_TRUE(bad("zP", {0x1b, 1, 2})) << "cut";
  EXPECT_TRUE(bad("zP", {0x51, 1, 2, 3, 4})) << "aligned, of variable length";
  EXPECT_FALSE(bad("zR", {0x1b}));
}

TEST_F(EhFrameIndexTest, BadBytesOfACie) {
  cfi.Cie();
  const std::vector<uint8_t> good = cfi.bytes;
  auto bad_with = [&](size_t at, uint8_t value) {
    cfi.bytes = good;
    cfi.bytes[at] = value;
    return Index().bad_entries == 1;
  };
  EXPECT_TRUE(bad_with(8, 2)) << "version";
  EXPECT_TRUE(bad_with(14, 15)) << "register of the return address";
  EXPECT_TRUE(bad_with(15, 0x7f)) << "length of the augmentation data";
  EXPECT_TRUE(bad_with(17, 0x3f)) << "instruction";
  EXPECT_FALSE(bad_with(12, 4)) << "code alignment";
}

// What an FDE names need not be in its CIE, which may name less.
TEST_F(EhFrameIndexTest, RegisterNumbers) {
  for (const uint8_t reg : {uint8_t{32}, uint8_t{33}}) {
    cfi.bytes.clear();
    const size_t cie = cfi.Entry({0,    0,    0, 0,  // id of a CIE
                                  1,                 // version
                                  'z',  'R',  0,     // augmentation
                                  1,                 // code alignment
                                  0x78,              // data alignment, -8
                                  16,                // register of the return address
                                  1,    0x1b,        // its FDEs have pc-relative addresses of four bytes
                                  0x0c, 7,    8,     // def_cfa rsp 8
                                  0x90, 1,           // offset rip 1
                                  0x07, reg});       // undefined
    cfi.Fde(cie, 0x1000, 0x10, {0x07, 0x7d});        // undefined 125
    cfi.Fde(cie, 0x1010, 0x10, {0x07, 0x80, 0x01});  // undefined 128
    EXPECT_EQ(Index().fdes.size(), reg == 32 ? 1u : 0u);
    EXPECT_EQ(Index().bad_entries, reg == 32 ? 1u : 3u);
  }
}

TEST_F(EhFrameIndexTest, BadFdes) {
  const size_t cie = cfi.Cie();
  const size_t first = cfi.Fde(cie, 0x1000, 0x10, {});
  cfi.Fde(first, 0x2000, 0x10, {});                       // its CIE is none
  cfi.Fde(cie + 4, 0x3000, 0x10, {});                     // nor this
  cfi.Fde(cie, 0x4000, 0x10, {0x0e});                     // instruction cut
  cfi.Entry({0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});  // its CIE is before the table
  cfi.Fde(cie, 0x5000, 0xffffff00, {});                   // ends before it begins
  EhFrameIndex index = Index();
  ASSERT_EQ(index.fdes.size(), 1u);
  EXPECT_EQ(index.fdes[0].begin, 0x1000u);
  EXPECT_EQ(index.bad_entries, 5u);
}

TEST_F(EhFrameIndexTest, EmptyRangesAreNoDamage) {
  cfi.Fde(cfi.Cie(), 0, 0, {});
  EXPECT_TRUE(Index().fdes.empty());
  EXPECT_EQ(Index().bad_entries, 0u);
}

TEST_F(EhFrameIndexTest, OverlappingRanges) {
  const size_t cie = cfi.Cie();
  cfi.Fde(cie, 0x1000, 0x100, {});
  cfi.Fde(cie, 0x10ff, 0x10, {});
  cfi.Fde(cie, 0x1100, 0x10, {});
  EhFrameIndex index = Index();
  ASSERT_EQ(index.fdes.size(), 2u);
  EXPECT_EQ(index.fdes[1].begin, 0x1100u);
  EXPECT_EQ(index.bad_entries, 1u);
}

TEST_F(EhFrameIndexTest, BrokenChain) {
  cfi.Cie();
  const std::vector<uint8_t> good = cfi.bytes;
  for (const std::vector<uint8_t>& tail : std::vector<std::vector<uint8_t>>{
           {1},                          // not even a length
           {3, 0, 0, 0, 0, 0, 0},        // too short for an id
           {5, 0, 0, 0, 0, 0, 0, 0},     // longer than what is left
           {0xff, 0xff, 0xff, 0xff, 0},  // a 64-bit length
       }) {
    cfi.bytes = good;
    cfi.bytes.insert(cfi.bytes.end(), tail.begin(), tail.end());
    EXPECT_FALSE(IndexEhFrame(cfi.Table(), kX86_64).has_value()) << int{tail[0]};
  }
}

TEST_F(EhFrameIndexTest, EveryPrefix) {
  const size_t first = cfi.bytes.size();
  const size_t cie = cfi.Cie();
  const size_t fde = cfi.Fde(cie, 0x1000, 0x40, {0x41, 0x0e, 16});
  cfi.Number(0);
  const ModuleTable whole = cfi.Table();
  for (size_t size = 0; size < whole.bytes.size(); ++size) {
    ModuleTable cut = whole;
    cut.bytes.resize(size);
    const bool between = size == first || size == fde || size == whole.bytes.size() - 4;
    EXPECT_EQ(IndexEhFrame(cut, kX86_64).has_value(), between) << size;
  }
}

// As a tool leaves it that has rewritten a program: what follows the zero is reached by the search table alone.
TEST_F(EhFrameIndexTest, SearchTableReachesBehindAZero) {
  const size_t cie = cfi.Cie();
  const size_t a = cfi.Fde(cie, 0x1000, 0x40, {});
  cfi.Number(0);
  const size_t other_cie = cfi.Cie();
  const size_t b = cfi.Fde(other_cie, 0x2000, 0x40, {});
  const auto index = IndexEhFrame(cfi.Table(), kX86_64, CfiBytes::Header({{0x1000, a}, {0x2000, b}}));
  ASSERT_TRUE(index.has_value());
  ASSERT_EQ(index->fdes.size(), 2u);
  EXPECT_EQ(index->fdes[0].offset, a);
  EXPECT_EQ(index->fdes[1].begin, 0x2000u);
  EXPECT_EQ(index->fdes[1].end, 0x2040u);
  EXPECT_EQ(index->fdes[1].offset, b);
  EXPECT_EQ(index->bad_entries, 0u);
}

// The first one of them is out of date.
TEST_F(EhFrameIndexTest, SearchTableDecidesBetweenEntriesOfOneCode) {
  const size_t cie = cfi.Cie();
  cfi.Fde(cie, 0x0ff0, 0x60, {0x0e, 32});
  const size_t right = cfi.Fde(cie, 0x1000, 0x40, {});
  const auto index = IndexEhFrame(cfi.Table(), kX86_64, CfiBytes::Header({{0x1000, right}}));
  ASSERT_TRUE(index.has_value());
  ASSERT_EQ(index->fdes.size(), 1u);
  EXPECT_EQ(index->fdes[0].offset, right);
}

TEST_F(EhFrameIndexTest, WhatTheSearchTableLeavesOutIsTaken) {
  const size_t cie = cfi.Cie();
  const size_t a = cfi.Fde(cie, 0x1000, 0x40, {});
  const size_t below = cfi.Fde(cie, 0x0f00, 0x100, {});
  const size_t above = cfi.Fde(cie, 0x1040, 0x40, {});
  const auto index = IndexEhFrame(cfi.Table(), kX86_64, CfiBytes::Header({{0x1000, a}}));
  ASSERT_TRUE(index.has_value());
  ASSERT_EQ(index->fdes.size(), 3u);
  EXPECT_EQ(index->fdes[0].offset, below);
  EXPECT_EQ(index->fdes[1].offset, a);
  EXPECT_EQ(index->fdes[2].offset, above);
}

TEST_F(EhFrameIndexTest, SearchTableServesWhereTheChainIsBroken) {
  const size_t a = cfi.Fde(cfi.Cie(), 0x1000, 0x40, {});
  cfi.Number(3);  // no length
  const size_t b = cfi.Fde(cfi.Cie(), 0x2000, 0x40, {});
  EXPECT_FALSE(IndexEhFrame(cfi.Table(), kX86_64).has_value());
  const auto index = IndexEhFrame(cfi.Table(), kX86_64, CfiBytes::Header({{0x1000, a}, {0x2000, b}}));
  ASSERT_TRUE(index.has_value());
  EXPECT_EQ(index->fdes.size(), 2u);
}

// It names another function, a CIE, a zero, what is not there, and the same entry once more.
TEST_F(EhFrameIndexTest, SearchTableIsNotTrusted) {
  const size_t cie = cfi.Cie();
  const size_t a = cfi.Fde(cie, 0x1000, 0x40, {});
  const size_t zero = cfi.bytes.size();
  cfi.Number(0);
  const ModuleTable header = CfiBytes::Header(
      {{0x1001, a}, {0x2000, cie}, {0x3000, zero}, {0x4000, zero + 1}, {0x5000, zero + 100}, {0x1000, a}, {0x1000, a}});
  const auto index = IndexEhFrame(cfi.Table(), kX86_64, header);
  ASSERT_TRUE(index.has_value());
  ASSERT_EQ(index->fdes.size(), 1u);
  EXPECT_EQ(index->fdes[0].offset, a);
  EXPECT_EQ(index->bad_entries, 6u);
}

TEST_F(EhFrameIndexTest, AsManyAsAllowed) {
  const size_t cie = cfi.Cie();
  cfi.bytes.reserve((kMaxFdes + 1) * 17 + 100);
  for (size_t i = 0; i < kMaxFdes; ++i) cfi.Fde(cie, 0x1000 + i * 16, 16, {});
  EXPECT_EQ(Index().fdes.size(), kMaxFdes);
  cfi.Fde(cie, 0x100, 16, {});
  EXPECT_FALSE(IndexEhFrame(cfi.Table(), kX86_64).has_value());
}

// The linker has counted the entries of libc in .eh_frame_hdr and listed where the described code begins.
TEST_F(EhFrameIndexTest, AgreesWithTheLinkersTable) {
  ModuleCache cache;
  auto space = LoadAddressSpace(getpid(), nullptr, cache);
  ASSERT_TRUE(space.ok());
  size_t compared = 0;
  for (const MappedCode& code : (*space)->code()) {
    if (code.module == nullptr || code.module->eh_frame_hdr.bytes.empty()) continue;
    const ModuleTable& hdr = code.module->eh_frame_hdr;
    // Count in four bytes, entries of two data-relative numbers of four bytes.
    if (hdr.bytes.size() < 12 || hdr.bytes[2] != std::byte{0x03} || hdr.bytes[3] != std::byte{0x3b}) continue;
    auto index = IndexEhFrame(code.module->eh_frame, kX86_64);
    ASSERT_TRUE(index.has_value()) << code.module->path;
    EXPECT_EQ(index->bad_entries, 0u) << code.module->path;
    const std::byte* const mapped = hdr.bytes.data();
    uint32_t count = 0;
    std::memcpy(&count, mapped + 8, 4);
    ASSERT_EQ(index->fdes.size(), count) << code.module->path;
    for (size_t i = 0; i < count; ++i) {
      int32_t entry[2];
      std::memcpy(entry, mapped + 12 + 8 * i, 8);
      ASSERT_EQ(index->fdes[i].begin, hdr.address + static_cast<uint64_t>(int64_t{entry[0]}));
      ASSERT_EQ(index->fdes[i].offset + code.module->eh_frame.address,
                hdr.address + static_cast<uint64_t>(int64_t{entry[1]}));
    }
    ++compared;
  }
  EXPECT_GE(compared, 3u);
}

}  // namespace
}  // namespace offcpu

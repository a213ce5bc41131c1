#include "unwind/debug_frame.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "unwind/eh_frame.h"
#include "unwind/eh_frame_index.h"

namespace offcpu {
namespace {

using Bytes = std::vector<uint8_t>;

// A .debug_frame made by hand.
class Table {
 public:
  size_t Entry(const Bytes& body) {
    const size_t at = bytes.size();
    Number<uint32_t>(static_cast<uint32_t>(body.size()));
    bytes.insert(bytes.end(), body.begin(), body.end());
    return at;
  }
  // CFA = rsp + 8, RA at CFA - 8. `head`: version, augmentation, and what version 4 has besides.
  size_t Cie(const Bytes& head = {1, 0}) {
    Bytes body = {0xff, 0xff, 0xff, 0xff};  // id of a CIE
    body.insert(body.end(), head.begin(), head.end());
    body.insert(body.end(), {1,           // code alignment
                             0x78,        // data alignment, -8
                             16,          // register of the return address
                             0x0c, 7, 8,  // def_cfa rsp 8
                             0x90, 1});   // offset rip 1
    return Entry(body);
  }
  void Fde(size_t cie, uint64_t begin, uint64_t size, const Bytes& instructions) {
    Number<uint32_t>(static_cast<uint32_t>(20 + instructions.size()));
    Number<uint32_t>(static_cast<uint32_t>(cie));
    Number<uint64_t>(begin);
    Number<uint64_t>(size);
    bytes.insert(bytes.end(), instructions.begin(), instructions.end());
  }

  template <typename T>
  void Number(T number) {
    bytes.resize(bytes.size() + sizeof(number));
    std::memcpy(bytes.data() + bytes.size() - sizeof(number), &number, sizeof(number));
  }

  std::optional<std::vector<std::byte>> AsEhFrame() const {
    return DebugFrameAsEhFrame(std::as_bytes(std::span(bytes)));
  }
  // The functions that it describes after all.
  size_t Functions() const {
    const auto index = IndexEhFrame({.address = 0, .bytes = AsEhFrame().value()}, kX86_64);
    EXPECT_TRUE(index.has_value());
    EXPECT_EQ(index->bad_entries, 0u);
    return index->fdes.size();
  }

  Bytes bytes;
};

TEST(DebugFrameTest, SaysTheSame) {
  Table table;
  const size_t cie = table.Cie();
  table.Fde(cie, 0x401000, 0x100, {0x41, 0x0e, 16, 0x86, 2});  // at 1: CFA = rsp + 16, rbp at CFA - 16
  table.Fde(table.Cie({3, 0}), 0x402000, 0x10, {});
  table.Fde(cie, 0x7fff00000000, 0x10, {});
  const auto converted = table.AsEhFrame();
  ASSERT_TRUE(converted.has_value());
  for (const uint64_t address : {uint64_t{0}, uint64_t{0x123456}}) {
    const auto rows = EhFrameTable::Open({.address = address, .bytes = *converted}, kX86_64);
    ASSERT_NE(rows, nullptr);
    EXPECT_EQ(rows->bad_entries(), 0u);
    UnwindRow row;
    ASSERT_EQ(rows->Find(0x401000, &row), FindOutcome::kFound);
    EXPECT_EQ(row.cfa, (CfaRule{.offset = 8, .addend = 0, .reg = kRsp, .deref = false}));
    EXPECT_EQ(row.end, 0x401001u);
    ASSERT_EQ(rows->Find(0x4010ff, &row), FindOutcome::kFound);
    EXPECT_EQ(row.cfa.offset, 16);
    EXPECT_EQ(row.ra, (ValueRule{.offset = -8, .place = Place::kAtCfa, .reg = 0}));
    EXPECT_EQ(row.fp, (ValueRule{.offset = -16, .place = Place::kAtCfa, .reg = 0}));
    EXPECT_EQ(rows->Find(0x401100, &row), FindOutcome::kNotHere);
    EXPECT_EQ(rows->Find(0x40200f, &row), FindOutcome::kFound);
    EXPECT_EQ(rows->Find(0x7fff0000000f, &row), FindOutcome::kFound);
  }
}

TEST(DebugFrameTest, SignalTrampoline) {
  Table table;
  table.Fde(table.Cie({1, 'S', 0}), 0x1000, 0x10, {});
  table.Fde(table.Cie(), 0x2000, 0x10, {});
  const auto rows = EhFrameTable::Open({.address = 0, .bytes = table.AsEhFrame().value()}, kX86_64);
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(rows->BeginsSignalFrame(0x1000), true);
  EXPECT_EQ(rows->BeginsSignalFrame(0x2000), false);
}

TEST(DebugFrameTest, KindsOfCies) {
  const auto functions = [](const Bytes& head) {
    Table table;
    table.Fde(table.Cie(head), 0x1000, 0x10, {});
    return table.Functions();
  };
  EXPECT_EQ(functions({1, 0}), 1u);
  EXPECT_EQ(functions({3, 0}), 1u);
  EXPECT_EQ(functions({4, 0, 8, 0}), 1u) << "addresses of 8 bytes, no segments";
  EXPECT_EQ(functions({4, 0, 4, 0}), 0u) << "addresses of 4 bytes";
  EXPECT_EQ(functions({4, 0, 8, 2}), 0u) << "segments";
  EXPECT_EQ(functions({2, 0}), 0u);
  EXPECT_EQ(functions({5, 0}), 0u);
  EXPECT_EQ(functions({1, 'z', 'R', 0}), 0u) << "of .eh_frame";
  EXPECT_EQ(functions({1, 'S', 'S', 0}), 0u);
}

TEST(DebugFrameTest, WhatIsLeftOut) {
  Table table;
  const size_t cie = table.Cie();
  table.Fde(cie, 0, 0x10, {});           // thrown away by the linker
  table.Fde(cie + 1, 0x1000, 0x10, {});  // no CIE is there
  table.Entry({});                       // too short for anything
  table.Entry({0, 0, 0, 0, 1, 2, 3});
  table.Entry({0xff, 0xff, 0xff, 0xff, 1});
  EXPECT_EQ(table.Functions(), 0u);
  table.Fde(cie, 0x2000, 0x10, {});
  EXPECT_EQ(table.Functions(), 1u) << "the others stand for themselves";
}

// What is damaged in an entry itself is found where those of .eh_frame are looked at.
TEST(DebugFrameTest, InstructionsAreNotJudged) {
  Table table;
  table.Fde(table.Cie(), 0x1000, 0x10, {0x0e});
  const auto index = IndexEhFrame({.address = 0, .bytes = table.AsEhFrame().value()}, kX86_64);
  ASSERT_TRUE(index.has_value());
  EXPECT_EQ(index->bad_entries, 1u);
}

TEST(DebugFrameTest, EveryPrefix) {
  Table table;
  table.Fde(table.Cie({4, 0, 8, 0}), 0x1000, 0x10, {0x41, 0x0e, 16});
  const std::vector<size_t> whole = {0, table.bytes.size() - 27, table.bytes.size()};  // before, between, behind
  const Bytes all = table.bytes;
  for (size_t size = 0; size <= all.size(); ++size) {
    table.bytes.assign(all.begin(), all.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_EQ(table.AsEhFrame().has_value(), std::find(whole.begin(), whole.end(), size) != whole.end()) << size;
  }
}

TEST(DebugFrameTest, SixtyFourBits) {
  Table table;
  table.Number<uint32_t>(0xffffffff);
  table.Number<uint64_t>(12);
  table.bytes.resize(table.bytes.size() + 12);
  EXPECT_FALSE(table.AsEhFrame().has_value());
}

}  // namespace
}  // namespace offcpu

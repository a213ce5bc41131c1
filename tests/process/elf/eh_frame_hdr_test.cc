#include "process/elf/eh_frame_hdr.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <initializer_list>

namespace offcpu {
namespace {

ModuleTable Table(std::initializer_list<uint8_t> bytes) {
  ModuleTable table;
  table.address = 0x1000;
  for (uint8_t b : bytes) table.bytes.push_back(std::byte{b});
  return table;
}

// version, encoding of the pointer, two more encodings, the pointer
TEST(EhFrameHdrTest, Encodings) {
  EXPECT_EQ(EhFrameAddress(Table({1, 0x1b, 0x03, 0x3b, 0x10, 0, 0, 0})), 0x1014u);
  EXPECT_EQ(EhFrameAddress(Table({1, 0x1b, 0x03, 0x3b, 0xfc, 0xff, 0xff, 0xff})), 0x1000u);
  EXPECT_EQ(EhFrameAddress(Table({1, 0x3b, 0x03, 0x3b, 0x10, 0, 0, 0})), 0x1010u);
  EXPECT_EQ(EhFrameAddress(Table({1, 0x03, 0x03, 0x3b, 0xfc, 0xff, 0xff, 0xff})), 0xfffffffcu);
  EXPECT_EQ(EhFrameAddress(Table({1, 0x00, 0x03, 0x3b, 8, 7, 6, 5, 4, 3, 2, 1})), 0x0102030405060708u);
  EXPECT_EQ(EhFrameAddress(Table({1, 0x1c, 0x03, 0x3b, 0, 0, 0, 0, 0, 0, 0, 0})), 0x1004u);
}

TEST(EhFrameHdrTest, Refused) {
  EXPECT_EQ(EhFrameAddress(Table({2, 0x1b, 0x03, 0x3b, 0x10, 0, 0, 0})), std::nullopt) << "version";
  EXPECT_EQ(EhFrameAddress(Table({1, 0xff, 0x03, 0x3b, 0x10, 0, 0, 0})), std::nullopt) << "no pointer";
  EXPECT_EQ(EhFrameAddress(Table({1, 0x9b, 0x03, 0x3b, 0x10, 0, 0, 0})), std::nullopt) << "indirect";
  EXPECT_EQ(EhFrameAddress(Table({1, 0x01, 0x03, 0x3b, 0x10, 0, 0, 0})), std::nullopt) << "of variable length";
}

TEST(EhFrameHdrTest, EveryPrefix) {
  ModuleTable table = Table({1, 0x1b, 0x03, 0x3b, 0x10, 0, 0, 0});
  while (!table.bytes.empty()) {
    table.bytes.pop_back();
    EXPECT_EQ(EhFrameAddress(table), std::nullopt) << table.bytes.size();
  }
}

// Two functions: at 0x1000 - 16 and 0x1000 + 16, with their entries at 0x1100 and 0x1200.
const std::initializer_list<uint8_t> kTwo = {1,    0x1b, 0x03, 0x3b, 0x10, 0,    0, 0,  // as above
                                             2,    0,    0,    0,                       // count
                                             0xf0, 0xff, 0xff, 0xff, 0x00, 0x01, 0, 0,  //
                                             0x10, 0,    0,    0,    0x00, 0x02, 0, 0};

TEST(EhFrameSearchTest, NamesFunctionsAndEntries) {
  const ModuleTable table = Table(kTwo);
  const EhFrameSearch search = EhFrameSearch::Of(table);
  ASSERT_EQ(search.size(), 2u);
  EXPECT_EQ(search.At(0).begin, 0xff0u);
  EXPECT_EQ(search.At(0).fde, 0x1100u);
  EXPECT_EQ(search.At(1).begin, 0x1010u);
  EXPECT_EQ(search.At(1).fde, 0x1200u);
}

TEST(EhFrameSearchTest, OfAWidePointer) {
  const ModuleTable table = Table({1, 0x1c, 0x03, 0x3b, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0});
  const EhFrameSearch search = EhFrameSearch::Of(table);
  ASSERT_EQ(search.size(), 1u);
  EXPECT_EQ(search.At(0).begin, 0x1001u);
  EXPECT_EQ(search.At(0).fde, 0x1002u);
}

TEST(EhFrameSearchTest, InAnotherFormIsNone) {
  for (const size_t encoding : {1, 2, 3}) {
    ModuleTable table = Table(kTwo);
    table.bytes[encoding] = std::byte{0xff};
    EXPECT_EQ(EhFrameSearch::Of(table).size(), 0u) << encoding;
  }
}

// A byte of the second entry is missing, and so on.
TEST(EhFrameSearchTest, EveryPrefix) {
  ModuleTable table = Table(kTwo);
  while (!table.bytes.empty()) {
    table.bytes.pop_back();
    EXPECT_EQ(EhFrameSearch::Of(table).size(), table.bytes.size() >= 20 ? 1u : 0u) << table.bytes.size();
  }
}

}  // namespace
}  // namespace offcpu

#include "process/elf/eh_frame_hdr.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace offcpu

#include "bpf_programs/orc_format.h"

#include <gtest/gtest.h>

#include <cstring>

namespace offcpu {
namespace {

// Read from the sections .orc_header of Debian's kernels.
constexpr unsigned char kOf612[] = {0xfe, 0x5d, 0x32, 0xbf};
constexpr unsigned char kOf72[] = {0x13, 0x7c, 0x36, 0xad};

uint32_t Header(const unsigned char (&bytes)[4]) {
  uint32_t header = 0;
  std::memcpy(&header, bytes, sizeof(header));
  return header;
}

// The numbers of the registers are those that most rows of these kernels have.
TEST(OrcFormat, IsNamedByItsHash) {
  const auto before = OrcRegistersOf(Header(kOf612));
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(before->sp, 5);
  EXPECT_EQ(before->prev_sp, 1);
  EXPECT_EQ(before->bp_indirect, 8);
  const auto since = OrcRegistersOf(Header(kOf72));
  ASSERT_TRUE(since.has_value());
  EXPECT_EQ(since->sp, 3);
  EXPECT_EQ(since->prev_sp, 8);
  EXPECT_EQ(since->bp_indirect, 10);
}

TEST(OrcFormat, OfAnotherDefinitionIsNotKnown) {
  EXPECT_FALSE(OrcRegistersOf(0).has_value());
  EXPECT_FALSE(OrcRegistersOf(Header(kOf72) + 1).has_value());
}

}  // namespace
}  // namespace offcpu

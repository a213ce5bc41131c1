// Lines of instructions, by tables of which each byte is known. What CPython itself says of such tables is compared in
// python_stacks_test.
#include "runtimes/python/line_table.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace offcpu {
namespace {

// An entry's first byte: its kind, for so many code units.
constexpr uint8_t Head(unsigned kind, unsigned units) { return static_cast<uint8_t>(0x80 | kind << 3 | (units - 1)); }

std::optional<uint32_t> Line(const std::vector<uint8_t>& table, uint64_t unit, int32_t first_line = 10) {
  return LineOf(std::as_bytes(std::span(table)), first_line, unit);
}

TEST(LineTable, ShortEntriesStayInTheLine) {
  const std::vector<uint8_t> table = {Head(0, 2), 0x12, Head(9, 1), 0x34};
  EXPECT_EQ(Line(table, 0), 10u);
  EXPECT_EQ(Line(table, 1), 10u);
  EXPECT_EQ(Line(table, 2), 10u);
  EXPECT_EQ(Line(table, 3), std::nullopt) << "behind the end";
}

TEST(LineTable, EntriesOfOneLineSayHowFarItIs) {
  const std::vector<uint8_t> table = {Head(10, 1), 1, 2, Head(11, 1), 3, 4, Head(12, 8), 5, 6};
  EXPECT_EQ(Line(table, 0), 10u);
  EXPECT_EQ(Line(table, 1), 11u);
  EXPECT_EQ(Line(table, 2), 13u);
  EXPECT_EQ(Line(table, 9), 13u);
  EXPECT_EQ(Line(table, 10), std::nullopt);
}

TEST(LineTable, NumbersHaveSixBitsInEachByteAndTheSignInTheLowest) {
  // 3 lines back; then 100 forth: 200 is 8 and 3 * 64.
  const std::vector<uint8_t> table = {Head(13, 1), 7, Head(13, 1), 0x40 | 8, 3};
  EXPECT_EQ(Line(table, 0), 7u);
  EXPECT_EQ(Line(table, 1), 107u);
}

TEST(LineTable, LongEntriesHaveThreeNumbersMore) {
  const std::vector<uint8_t> table = {Head(14, 1), 4, 1, 0x41, 2, 3, Head(0, 1), 0};
  EXPECT_EQ(Line(table, 0), 12u);
  EXPECT_EQ(Line(table, 1), 12u);
}

TEST(LineTable, InstructionsWithoutALineHaveNone) {
  const std::vector<uint8_t> table = {Head(11, 1), 0, 0, Head(15, 2), Head(0, 1), 0};
  EXPECT_EQ(Line(table, 0), 11u);
  EXPECT_EQ(Line(table, 1), std::nullopt);
  EXPECT_EQ(Line(table, 2), std::nullopt);
  EXPECT_EQ(Line(table, 3), 11u) << "the line is that from before";
}

TEST(LineTable, DamagedTablesSayNothing) {
  EXPECT_EQ(Line({}, 0), std::nullopt);
  EXPECT_EQ(Line({0x00, 0x00}, 0), std::nullopt) << "an entry's first byte has its highest bit";
  EXPECT_EQ(Line({Head(0, 1)}, 0), std::nullopt) << "cut";
  EXPECT_EQ(Line({Head(13, 1), 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 1}, 0), std::nullopt) << "a number without an end";
  EXPECT_EQ(Line({Head(13, 1), 0x55}, 0), std::nullopt) << "cut in a number";
}

TEST(LineTable, LinesThatAreNoneAreNotKnown) {
  EXPECT_EQ(Line({Head(13, 1), 21}, 0), std::nullopt) << "line 0";
  EXPECT_EQ(Line({Head(13, 1), 19}, 0), 1u);
  EXPECT_EQ(Line({Head(11, 1), 0, 0}, 0, INT32_MAX), std::nullopt);
  EXPECT_EQ(Line({Head(10, 1), 0, 0}, 0, INT32_MAX), static_cast<uint32_t>(INT32_MAX));
}

}  // namespace
}  // namespace offcpu

#include "tables/columns.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(ColumnsTest, TheMiddleGoesAndBothEndsStay) {
  EXPECT_EQ(ShortenedInside("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(ShortenedInside("abcdefghij", 9), "abcd..hij");
  EXPECT_EQ(ShortenedInside("abcdefghij", 4), "a..j");
  EXPECT_EQ(ShortenedInside("abcdefghij", 2), "ab");
  EXPECT_EQ(ShortenedInside("abcdefghij", 0), "");
  EXPECT_EQ(ShortenedInside("abcdefghij", kNoLimit), "abcdefghij");
}

TEST(ColumnsTest, CharactersAreKeptWhole) {
  EXPECT_EQ(ShortenedInside("\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9", 5), "\u00e9\u00e9..\u00e9");
  EXPECT_EQ(ShortenedInside("a\x1b[2J", kNoLimit), "a?[2J") << "and none controls the terminal";
}

TEST(ColumnsTest, OrTheEndGoes) {
  EXPECT_EQ(Shortened("abcdefghij", 9), "abcdefg..");
  EXPECT_EQ(Cell("ab", 4), "ab  ");
  EXPECT_EQ(Cell("abcdef", 4), "abcd");
}

TEST(ColumnsTest, LongLinesGoOnInTheNext) {
  EXPECT_EQ(Wrapped("short\n", 10), "short\n");
  EXPECT_EQ(Wrapped("one two three four\nfive\n", 10), "one two\n    three\n    four\nfive\n");
  EXPECT_EQ(Wrapped("exactly_10\n", 10), "exactly_10\n");
  EXPECT_EQ(Wrapped("abcdefghijklmnop\n", 10), "abcdefghij\n    klmnop\n") << "without a blank";
  EXPECT_EQ(Wrapped("      abcdefghij\n", 10), "      abcd\n    efghij\n") << "its own indent is no place to break";
  EXPECT_EQ(Wrapped("\n\n", 10), "\n\n");
  EXPECT_EQ(Wrapped("one two three\n", kNoLimit), "one two three\n");
}

}  // namespace
}  // namespace offcpu

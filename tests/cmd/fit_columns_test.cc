#include "offcpu/fit_columns.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(FitColumnsTest, ALineThatFitsStays) {
  EXPECT_EQ(FitColumns("", 10), "");
  EXPECT_EQ(FitColumns("as many as\nten\n", 10), "as many as\nten\n");
}

TEST(FitColumnsTest, WordsGoToTheNextLine) {
  EXPECT_EQ(FitColumns("one two three four", 10), "one two\nthree four");
  EXPECT_EQ(FitColumns("one twotwotwotwo three", 10), "one\ntwotwotwotwo\nthree");
}

TEST(FitColumnsTest, TheLastColumnIsFoldedBelowItself) {
  EXPECT_EQ(FitColumns("  -p PID  Record the process with this number, and no other", 40),
            "  -p PID  Record the process with this\n          number, and no other");
  EXPECT_EQ(FitColumns("          Record the process with this number", 40),
            "          Record the process with this\n          number");
}

TEST(FitColumnsTest, ANarrowColumnGoesBelowTheLine) {
  EXPECT_EQ(FitColumns("  offcpu record -p 1234  one process", 30), "  offcpu record -p 1234\n      one process");
}

TEST(FitColumnsTest, AWordLongerThanTheLineEndsIt) {
  EXPECT_EQ(FitColumns("  a  bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", 30), "  a  bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb");
}

}  // namespace
}  // namespace offcpu

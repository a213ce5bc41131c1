#include "classify/glob_match.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(GlobMatchTest, WithoutWildcardsItIsEquality) {
  EXPECT_TRUE(Matches("nginx", "nginx"));
  EXPECT_FALSE(Matches("nginx", "nginx2"));
  EXPECT_FALSE(Matches("nginx", "ngin"));
  EXPECT_TRUE(Matches("", ""));
  EXPECT_FALSE(Matches("", "a"));
  EXPECT_TRUE(Matches("[a]", "[a]")) << "brackets are characters";
}

TEST(GlobMatchTest, AStarIsAnyRunAndAQuestionMarkAnyByte) {
  EXPECT_TRUE(Matches("*", ""));
  EXPECT_TRUE(Matches("a*", "a"));
  EXPECT_TRUE(Matches("*b", "aab"));
  EXPECT_TRUE(Matches("a*b*c", "aXbXbXc"));
  EXPECT_FALSE(Matches("a*b*c", "aXcXb"));
  EXPECT_TRUE(Matches("*a?", "aaab"));
  EXPECT_FALSE(Matches("?", ""));
  EXPECT_TRUE(Matches("a**", "abc"));
}

TEST(GlobMatchTest, OneOfManyIsEnough) {
  EXPECT_TRUE(MatchesAny({"a", "b*"}, "bc"));
  EXPECT_FALSE(MatchesAny({"a", "b*"}, "c"));
  EXPECT_FALSE(MatchesAny({}, "c"));
}

}  // namespace
}  // namespace offcpu

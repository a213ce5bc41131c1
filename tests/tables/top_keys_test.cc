#include "tables/top_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace offcpu {
namespace {

using Kind = TopKey::Kind;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TopKey Text(const std::string& text) { return {Kind::kText, text}; }

// As terminals send them: with '[', and in the mode of applications with 'O'.
TEST(TopKeysTest, KeysThatMove) {
  EXPECT_THAT(TopKeys("\033[A\033[B\033OA\033OB"),
              ElementsAre(TopKey{Kind::kUp}, TopKey{Kind::kDown}, TopKey{Kind::kUp}, TopKey{Kind::kDown}));
  EXPECT_THAT(TopKeys("\033[5~\033[6~"), ElementsAre(TopKey{Kind::kPageUp}, TopKey{Kind::kPageDown}));
  EXPECT_THAT(TopKeys("\033[H\033OH\033[1~\033[7~"),
              ElementsAre(TopKey{Kind::kHome}, TopKey{Kind::kHome}, TopKey{Kind::kHome}, TopKey{Kind::kHome}));
  EXPECT_THAT(TopKeys("\033[F\033OF\033[4~\033[8~"),
              ElementsAre(TopKey{Kind::kEnd}, TopKey{Kind::kEnd}, TopKey{Kind::kEnd}, TopKey{Kind::kEnd}));
}

TEST(TopKeysTest, KeysOfOneByte) {
  EXPECT_THAT(TopKeys("\t\r\n\b\x7f\033"),
              ElementsAre(TopKey{Kind::kTab}, TopKey{Kind::kEnter}, TopKey{Kind::kEnter}, TopKey{Kind::kBackspace},
                          TopKey{Kind::kBackspace}, TopKey{Kind::kEscape}));
  EXPECT_THAT(TopKeys("\033q"), ElementsAre(TopKey{Kind::kEscape}, Text("q")));
  EXPECT_THAT(TopKeys("\033\033[A"), ElementsAre(TopKey{Kind::kEscape}, TopKey{Kind::kUp}));
}

TEST(TopKeysTest, CharactersOfAnyLength) {
  EXPECT_THAT(TopKeys("a\u00e9\u20ac\U0001f600z"),
              ElementsAre(Text("a"), Text("\u00e9"), Text("\u20ac"), Text("\U0001f600"), Text("z")));
}

// A control character, half a character, a mark that turns text round, keys that mean nothing here.
TEST(TopKeysTest, WhatCannotBeShownIsLeftOut) {
  EXPECT_THAT(TopKeys("\x01\xe2\x82\u202e\033[11~\033[1;5C\033OP"), IsEmpty());
  EXPECT_THAT(TopKeys("\033[3~x"), ElementsAre(Text("x")));
}

TEST(TopKeysTest, ASequenceWithoutItsEndIsNothing) {
  const std::string whole = "\033[1;5A";
  for (size_t length = 2; length < whole.size(); ++length) EXPECT_THAT(TopKeys(whole.substr(0, length)), IsEmpty());
  EXPECT_THAT(TopKeys(whole), ElementsAre(TopKey{Kind::kUp}));
}

}  // namespace
}  // namespace offcpu

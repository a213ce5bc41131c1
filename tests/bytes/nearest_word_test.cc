#include "bytes/nearest_word.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

const std::vector<std::string> kWords = {"record", "report", "top", "--wakers"};

TEST(NearestWord, AllowsForAMistakeInThreeLetters) {
  EXPECT_EQ(NearestWord("recrod", kWords), "record") << "two letters have changed places";
  EXPECT_EQ(NearestWord("recod", kWords), "record") << "one is missing";
  EXPECT_EQ(NearestWord("--wakerss", kWords), "--wakers") << "one is too many";
  EXPECT_EQ(NearestWord("tup", kWords), "top") << "one is another";
  EXPECT_EQ(NearestWord("repocord", kWords), "record") << "two are too many";
}

TEST(NearestWord, IsNoneBeyondThat) {
  EXPECT_EQ(NearestWord("tap-", kWords), "") << "two mistakes in three letters";
  EXPECT_EQ(NearestWord("flame", kWords), "");
  EXPECT_EQ(NearestWord("record", kWords), "") << "is one of them";
  EXPECT_EQ(NearestWord("", kWords), "");
  EXPECT_EQ(NearestWord(std::string(65, 'r'), kWords), "");
  EXPECT_EQ(NearestWord("record", {}), "");
}

TEST(NearestWord, IsAskedFor) {
  EXPECT_EQ(DidYouMean("recrod", kWords), " (did you mean record?)");
  EXPECT_EQ(DidYouMean("flame", kWords), "");
}

}  // namespace
}  // namespace offcpu

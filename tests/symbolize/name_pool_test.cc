#include "symbolize/name_pool.h"

#include <deque>
#include <string>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(NamePoolTest, HoldsEachNameOnce) {
  std::deque<std::string> strings;
  NamePool pool(strings, 100);
  std::string_view a = pool.Intern("name", "");
  std::string_view b = pool.Intern(std::string("na") + "me", "");
  EXPECT_EQ(a, "name");
  EXPECT_EQ(a.data(), b.data());
  EXPECT_EQ(strings.size(), 1u);
}

TEST(NamePoolTest, BeyondTheLimitOnlyKnownAndCoarseNamesAreLeft) {
  std::deque<std::string> strings;
  NamePool pool(strings, 8);
  EXPECT_EQ(pool.Intern("12345", "x"), "12345");
  EXPECT_EQ(pool.Intern("678", "x"), "678");  // exactly full
  EXPECT_EQ(pool.Intern("9", "x"), "x");
  EXPECT_EQ(pool.Intern("a", "x"), "x");
  EXPECT_EQ(pool.Intern("12345", "x"), "12345");
  EXPECT_EQ(strings.size(), 3u);
}

TEST(NamePoolTest, ViewsStayWhereTheyAre) {
  std::deque<std::string> strings;
  NamePool pool(strings, 1u << 20);
  std::string_view first = pool.Intern("first", "");
  for (int i = 0; i < 10000; ++i) pool.Intern(std::to_string(i), "");
  EXPECT_EQ(first, "first");
}

}  // namespace
}  // namespace offcpu

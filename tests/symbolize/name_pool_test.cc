#include "symbolize/name_pool.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(NamePoolTest, HoldsEachNameOnce) {
  NameStore names;
  NamePool pool(names, 100);
  std::string_view a = pool.Intern("name", "");
  std::string_view b = pool.Intern(std::string("na") + "me", "");
  EXPECT_EQ(a, "name");
  EXPECT_EQ(a.data(), b.data());
}

TEST(NamePoolTest, BeyondTheLimitOnlyKnownAndCoarseNamesAreLeft) {
  NameStore names;
  NamePool pool(names, 8);
  EXPECT_EQ(pool.Intern("12345", "x"), "12345");
  EXPECT_EQ(pool.Intern("678", "x"), "678");  // exactly full
  EXPECT_EQ(pool.Intern("9", "x"), "x");
  EXPECT_EQ(pool.Intern("a", "x"), "x");
  EXPECT_EQ(pool.Intern("12345", "x"), "12345");
}

TEST(NamePoolTest, HoldsEachLineOnce) {
  NameStore names;
  NamePool pool(names, 4);
  const auto line = pool.InternLine("name", "x");
  EXPECT_EQ(line[0], FrameLine{.function = "name"});
  EXPECT_EQ(line[0].function.data(), pool.Intern("name", "x").data());
  EXPECT_EQ(pool.InternLine("name", "x").data(), line.data());
  EXPECT_EQ(pool.InternLine("another name", "x")[0].function, "x");
}

TEST(NamePoolTest, ViewsStayWhereTheyAre) {
  NameStore names;
  NamePool pool(names, 1u << 20);
  std::string_view first = pool.Intern("first", "");
  for (int i = 0; i < 10000; ++i) pool.Intern(std::to_string(i), "");
  EXPECT_EQ(first, "first");
}

}  // namespace
}  // namespace offcpu

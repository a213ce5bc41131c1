#include "profile/left_out_name.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(LeftOutName, ThereAndBack) {
  EXPECT_EQ(LeftOutName(12), "[12 frames left out]");
  for (const uint64_t frames : {uint64_t{1}, UINT64_MAX}) EXPECT_TRUE(IsLeftOutName(LeftOutName(frames))) << frames;
  for (const char* name : {"", "[", "[]", "[ frames left out]", "[x frames left out]", "[1 frames left out",
                           "[01 frames left out]", "[1 frames left out] ", "[truncated: no row]", "main"})
    EXPECT_FALSE(IsLeftOutName(name)) << name;
}

}  // namespace
}  // namespace offcpu

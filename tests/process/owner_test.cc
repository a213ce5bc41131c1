#include "process/owner.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace offcpu {
namespace {

TEST(OwnerTest, IsTheRealUser) { EXPECT_EQ(OwnerOf(getpid()), getuid()); }

TEST(OwnerTest, IsNobodyOfAProcessThatIsGone) { EXPECT_EQ(OwnerOf(0x3fffff), kNoOwner); }

TEST(OwnerTest, IsNotWhatAProcessNamesItself) {
  ASSERT_EQ(prctl(PR_SET_NAME, "x\nUid:\t4711\t47"), 0);
  EXPECT_EQ(OwnerOf(getpid()), getuid());
}

}  // namespace
}  // namespace offcpu

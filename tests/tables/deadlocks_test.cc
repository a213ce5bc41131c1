#include "tables/deadlocks.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::vector<int32_t>> Found(const std::vector<LockWait>& waits) { return FindDeadlocks(waits); }

TEST(Deadlocks, ThreadsThatWaitForEachOtherAreOneCircle) {
  EXPECT_THAT(Found({{1, 2}, {2, 1}}), ElementsAre(ElementsAre(1, 2)));
  EXPECT_THAT(Found({{3, 1}, {1, 2}, {2, 3}}), ElementsAre(ElementsAre(3, 1, 2)));
  EXPECT_THAT(Found({{1, 2}, {2, 1}, {5, 6}, {6, 5}}), ElementsAre(ElementsAre(1, 2), ElementsAre(5, 6)));
}

TEST(Deadlocks, AThreadMayWaitForItself) { EXPECT_THAT(Found({{1, 1}, {2, 1}}), ElementsAre(ElementsAre(1))); }

TEST(Deadlocks, ThreadsThatWaitForACircleAreNotInIt) {
  EXPECT_THAT(Found({{9, 8}, {8, 1}, {1, 2}, {2, 1}, {7, 9}}), ElementsAre(ElementsAre(1, 2)));
}

TEST(Deadlocks, AChainThatEndsIsNone) {
  EXPECT_THAT(Found({{1, 2}, {2, 3}, {3, 0}}), IsEmpty());
  EXPECT_THAT(Found({{1, 2}, {2, 77}}), IsEmpty()) << "a thread that is not listed";
  EXPECT_THAT(Found({{4, 2}, {1, 2}, {2, 0}}), IsEmpty());
  EXPECT_THAT(Found({}), IsEmpty());
}

}  // namespace
}  // namespace offcpu

#include "profile/kernel_stacks.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsNull;
using ::testing::Pointee;

class KernelStacksTest : public ::testing::Test {
 protected:
  std::vector<uint64_t> forgotten_;
  KernelStacks stacks_{3, [this](uint64_t id) { forgotten_.push_back(id); }};
};

TEST_F(KernelStacksTest, ADefinitionMayComeAgain) {
  EXPECT_TRUE(stacks_.Define(7, {1, 2}));
  EXPECT_TRUE(stacks_.Define(7, {1, 2}));
  EXPECT_EQ(stacks_.conflicts(), 0u);
  EXPECT_THAT(stacks_.Find(7), Pointee(ElementsAre(1, 2)));
  EXPECT_THAT(stacks_.Find(8), IsNull());
  EXPECT_EQ(stacks_.size(), 1u);
}

// Nobody knows which of the two an interval means.
TEST_F(KernelStacksTest, AnIdOfTwoStacksIsOfNone) {
  stacks_.Define(7, {1, 2});
  EXPECT_FALSE(stacks_.Define(7, {1, 3}));
  EXPECT_THAT(stacks_.Find(7), IsNull());
  EXPECT_TRUE(stacks_.IsVoid(7));
  EXPECT_EQ(stacks_.conflicts(), 1u);
  EXPECT_FALSE(stacks_.Define(7, {1, 2})) << "not later, either";
  EXPECT_THAT(stacks_.Find(7), IsNull());
  EXPECT_EQ(stacks_.conflicts(), 1u);
  for (uint64_t id = 10; id < 20; ++id) EXPECT_TRUE(stacks_.Define(id, {id}));
  EXPECT_EQ(stacks_.size(), 3u);
  EXPECT_FALSE(stacks_.Define(7, {1, 2})) << "it is not forgotten with the others";
}

TEST_F(KernelStacksTest, WhatIsThrownAwayIsAskedForAgain) {
  for (const uint64_t id : {1, 2, 3}) stacks_.Define(id, {id});
  EXPECT_THAT(forgotten_, IsEmpty());
  stacks_.Define(4, {4});
  EXPECT_THAT(forgotten_, ElementsAre(1));
  EXPECT_THAT(stacks_.Find(1), IsNull());
  EXPECT_EQ(stacks_.size(), 3u);
  stacks_.Define(1, {1});  // it was sent again
  EXPECT_THAT(stacks_.Find(1), Pointee(ElementsAre(1)));
  EXPECT_THAT(forgotten_, ElementsAre(1, 2));
}

TEST_F(KernelStacksTest, WhatIsUsedStays) {
  stacks_.Define(1, {1});
  for (uint64_t id = 2; id < 100; ++id) {
    EXPECT_THAT(stacks_.Find(1), Pointee(ElementsAre(1))) << "before " << id;
    stacks_.Define(id, {id});
  }
  EXPECT_EQ(stacks_.size(), 3u);
  EXPECT_EQ(forgotten_.size(), 96u);
}

TEST_F(KernelStacksTest, IfAllAreUsedTheOldestGoes) {
  for (const uint64_t id : {1, 2, 3}) {
    stacks_.Define(id, {id});
    stacks_.Find(id);
  }
  stacks_.Define(4, {4});
  EXPECT_THAT(forgotten_, ElementsAre(1));
}

}  // namespace
}  // namespace offcpu

#include "profile/stack_table.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "fake_modules.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StackTableTest : public ::testing::Test {
 protected:
  Profile Contents(StackTable& table) {
    Profile profile;
    table.MoveTo(profile);
    return profile;
  }

  std::shared_ptr<const Module> module_ = FakeModule("/bin/a");
};

TEST_F(StackTableTest, OneStackHasOneIndex) {
  StackTable table({});
  uint32_t a = table.InternUser(FakeStack(module_.get(), {1, 2}));
  uint32_t b = table.InternUser(FakeStack(module_.get(), {1, 3}));
  EXPECT_NE(a, b);
  EXPECT_EQ(table.InternUser(FakeStack(module_.get(), {1, 2})), a);
  Profile profile = Contents(table);
  EXPECT_EQ(profile.user_stacks.at(a).stack, FakeStack(module_.get(), {1, 2}));
  EXPECT_EQ(profile.user_stacks.at(b).stack, FakeStack(module_.get(), {1, 3}));
}

TEST_F(StackTableTest, HowFramesWereFoundTellsNoStacksApart) {
  const UserStack first = FakeStack(module_.get(), {1, 2});
  UserStack second = first;
  second.frames[1].source = FrameSource::kFramePointer;
  StackTable table({});
  const uint32_t index = table.InternUser(first);
  EXPECT_EQ(table.InternUser(second), index);
  EXPECT_EQ(Contents(table).user_stacks.at(0).stack, first) << "the first way is kept";
}

// Why the walk ended is not part of the hash, nor what an address is, so these all collide.
TEST_F(StackTableTest, CollidingStacksStayApart) {
  UserStack base = FakeStack(module_.get(), {1, 2});
  UserStack other_end = base;
  other_end.end = EndReason::kStackCopy;
  UserStack other_exact = base;
  other_exact.frames[1].exact = true;
  StackTable table({});
  std::vector<UserStack> stacks = {base, other_end, other_exact};
  for (uint32_t i = 0; i < stacks.size(); ++i) EXPECT_EQ(table.InternUser(stacks[i]), i);
  for (uint32_t i = 0; i < stacks.size(); ++i) EXPECT_EQ(table.InternUser(stacks[i]), i);
}

TEST_F(StackTableTest, OneAddressInTwoModulesIsTwoStacks) {
  StackTable table({});
  std::shared_ptr<const Module> other = FakeModule("/bin/b");
  EXPECT_NE(table.InternUser(FakeStack(module_.get(), {1})), table.InternUser(FakeStack(other.get(), {1})));
  EXPECT_NE(table.InternUser(FakeStack(module_.get(), {1})), table.InternUser(FakeStack(nullptr, {1})));
}

TEST_F(StackTableTest, AStackWithoutFramesIsNotAMissingOne) {
  StackTable table({});
  UserStack empty = {.frames = {}, .end = EndReason::kNotMapped};
  uint32_t index = table.InternUser(empty);
  EXPECT_NE(index, table.InternMissing(NoUserStack::kLost));
  EXPECT_EQ(table.InternUser(empty), index);
}

TEST_F(StackTableTest, EveryReasonHasOneEntryEvenWhenFull) {
  StackTable table({.user_stacks = 0, .kernel_stacks = 0});
  uint32_t lost = table.InternMissing(NoUserStack::kLost);
  uint32_t budget = table.InternMissing(NoUserStack::kBudget);
  EXPECT_NE(lost, budget);
  EXPECT_EQ(table.InternMissing(NoUserStack::kLost), lost);
  EXPECT_EQ(table.user_overflows(), 0u);
  Profile profile = Contents(table);
  EXPECT_EQ(profile.user_stacks.at(lost).missing, NoUserStack::kLost);
  EXPECT_EQ(profile.user_stacks.at(budget).missing, NoUserStack::kBudget);
}

TEST_F(StackTableTest, KeepsModulesAliveAndNamesThemOnce) {
  StackTable table({});
  std::weak_ptr<const Module> watch = module_;
  table.InternUser(FakeStack(module_.get(), {1, 2}));
  table.InternUser(FakeStack(module_.get(), {3}));
  module_.reset();
  EXPECT_FALSE(watch.expired());
  Profile profile = Contents(table);
  ASSERT_THAT(profile.code, SizeIs(1));
  EXPECT_EQ(profile.code[0], watch.lock());
}

TEST_F(StackTableTest, UserStacksBeyondTheCapShareOneEntry) {
  StackTable table({.user_stacks = 2, .kernel_stacks = 2});
  uint32_t first = table.InternUser(FakeStack(module_.get(), {1}));
  uint32_t second = table.InternUser(FakeStack(module_.get(), {2}));
  EXPECT_EQ(table.user_overflows(), 0u);
  uint32_t third = table.InternUser(FakeStack(module_.get(), {3}));
  EXPECT_EQ(table.InternUser(FakeStack(module_.get(), {4})), third);
  EXPECT_EQ(table.user_overflows(), 2u);
  EXPECT_EQ(table.InternUser(FakeStack(module_.get(), {1})), first);
  EXPECT_EQ(table.InternUser(FakeStack(module_.get(), {2})), second);
  Profile profile = Contents(table);
  ASSERT_THAT(profile.user_stacks, SizeIs(3));
  EXPECT_TRUE(profile.user_stacks[third].overflow);
  EXPECT_FALSE(profile.user_stacks[second].overflow);
}

TEST_F(StackTableTest, KernelFramesComeBeforeOrAfterTheFirstUseOrNever) {
  StackTable table({});
  uint64_t addresses[] = {0xffffffff81000010, 0xffffffff81000020};
  table.DefineKernel(7, addresses);
  uint32_t before = table.InternKernel(7);
  uint32_t after = table.InternKernel(8);
  table.DefineKernel(8, addresses);
  uint32_t never = table.InternKernel(9);
  Profile profile = Contents(table);
  EXPECT_THAT(profile.kernel_stacks.at(before).addresses, ElementsAre(addresses[0], addresses[1]));
  EXPECT_THAT(profile.kernel_stacks.at(after).addresses, ElementsAre(addresses[0], addresses[1]));
  EXPECT_THAT(profile.kernel_stacks.at(never).addresses, IsEmpty());
  EXPECT_EQ(profile.kernel_stacks.at(never).id, 9u);
}

TEST_F(StackTableTest, TheFirstDefinitionStays) {
  StackTable table({});
  uint64_t first[] = {1};
  uint64_t second[] = {2};
  EXPECT_TRUE(table.DefineKernel(7, first));
  EXPECT_TRUE(table.DefineKernel(7, first));
  EXPECT_FALSE(table.DefineKernel(7, second));
  uint32_t index = table.InternKernel(7);
  EXPECT_THAT(Contents(table).kernel_stacks.at(index).addresses, ElementsAre(1));
}

TEST_F(StackTableTest, WhatIsUndefinedHasNoFrames) {
  StackTable table({});
  uint64_t addresses[] = {1};
  table.DefineKernel(7, addresses);
  const uint32_t index = table.InternKernel(7);
  table.UndefineKernel(7);
  table.UndefineKernel(8);
  EXPECT_EQ(table.InternKernel(7), index);
  EXPECT_THAT(Contents(table).kernel_stacks.at(index).addresses, IsEmpty());
}

TEST_F(StackTableTest, KernelStacksBeyondTheCapShareOneEntry) {
  StackTable table({.user_stacks = 2, .kernel_stacks = 2});
  uint64_t addresses[] = {1};
  uint32_t used = table.InternKernel(7);
  table.DefineKernel(8, addresses);
  table.DefineKernel(9, addresses);  // no room: nothing is kept
  uint32_t other = table.InternKernel(9);
  EXPECT_EQ(table.InternKernel(10), other);
  EXPECT_EQ(table.InternKernel(7), used);
  EXPECT_EQ(table.kernel_overflows(), 2u);
  Profile profile = Contents(table);
  ASSERT_THAT(profile.kernel_stacks, SizeIs(3));
  EXPECT_TRUE(profile.kernel_stacks[other].overflow);
  EXPECT_THAT(profile.kernel_stacks[other].addresses, IsEmpty());
}

}  // namespace
}  // namespace offcpu

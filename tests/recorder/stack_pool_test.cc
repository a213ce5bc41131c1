#include "recorder/stack_pool.h"

#include <memory>
#include <utility>

#include "gtest/gtest.h"
#include "process/module.h"

namespace offcpu {
namespace {

UserStack StackOf(const Module* module, uint64_t address, EndReason end = EndReason::kComplete) {
  UserStack stack;
  for (const uint64_t frame : {address, address + 1}) stack.frames.push_back({.code = module, .address = frame});
  stack.end = end;
  return stack;
}

TEST(StackPoolTest, EqualStacksAreOne) {
  StackPool pool;
  const SharedStack first = pool.Share(StackOf(nullptr, 5));
  EXPECT_EQ(pool.Share(StackOf(nullptr, 5)), first);
  EXPECT_NE(pool.Share(StackOf(nullptr, 6)), first);
  EXPECT_NE(pool.Share(StackOf(nullptr, 5, EndReason::kStackCopy)), first) << "it may go on elsewhere";
  EXPECT_EQ(first->stack, StackOf(nullptr, 5));
}

TEST(StackPoolTest, AStackLivesAsLongAsItIsHeld) {
  StackPool pool;
  SharedStack one = pool.Share(StackOf(nullptr, 5));
  SharedStack two = pool.Share(StackOf(nullptr, 5));
  SharedStack other = pool.Share(StackOf(nullptr, 7));
  EXPECT_EQ(pool.size(), 2u);
  EXPECT_EQ(pool.frames(), 4u);
  one.reset();
  EXPECT_EQ(pool.size(), 2u);
  two.reset();
  EXPECT_EQ(pool.size(), 1u);
  EXPECT_EQ(pool.frames(), 2u);
  EXPECT_EQ(pool.Share(StackOf(nullptr, 5))->stack, StackOf(nullptr, 5)) << "anew";
}

TEST(StackPoolTest, AStackKeepsItsCodeAndMayOutliveThePool) {
  auto module = std::make_shared<Module>();
  const std::weak_ptr<Module> observed = module;
  SharedStack stack;
  {
    StackPool pool;
    stack = pool.Share(StackOf(module.get(), 5));
  }
  module.reset();
  EXPECT_EQ(stack->code.size(), 1u);
  EXPECT_FALSE(observed.expired());
  stack.reset();
  EXPECT_TRUE(observed.expired());
}

}  // namespace
}  // namespace offcpu

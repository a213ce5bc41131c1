#include "recorder/thread_checker.h"

#include <thread>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(ThreadCheckerTest, TheFirstThreadIsTheOwnerUntilItHandsOver) {
  ThreadChecker checker;
  std::thread([&checker] { checker.Check(); }).join();
  checker.HandOver();
  checker.Check();
  checker.Check();
  checker.HandOver();
  std::thread([&checker] { checker.Check(); }).join();
}

#ifndef NDEBUG
TEST(ThreadCheckerDeathTest, AnotherThreadAborts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ThreadChecker checker;
  checker.Check();
  EXPECT_DEATH(std::thread([&checker] { checker.Check(); }).join(), "");
}
#endif

}  // namespace
}  // namespace offcpu

#include "profiler/live_waits.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

constexpr ProcessKey kProcess = {.pid = 1, .start_ns = 2, .exec_id = 3};

WaitingThread Thread(int32_t tid, uint64_t switches, uint64_t cookie = 0) {
  WaitingThread thread;
  thread.process = kProcess;
  thread.tid = tid;
  thread.switches = switches;
  thread.cookie = cookie;
  return thread;
}

TEST(LiveWaitsTest, EachWaitBeginsOnceUnderItsOwnCookie) {
  LiveWaits waits(100);
  const uint64_t first = waits.Begin(Thread(1, 10))->cookie;
  EXPECT_EQ(waits.Begin(Thread(1, 10)), nullptr);
  EXPECT_NE(waits.Begin(Thread(1, 11))->cookie, first);
  EXPECT_EQ(waits.Find(kProcess, 1, 10), nullptr) << "its thread has gone on";
  EXPECT_NE(waits.Find(kProcess, 1, 11), nullptr);
}

TEST(LiveWaitsTest, TidsAreUsedAgain) {
  LiveWaits waits(100);
  waits.Begin(Thread(1, 10));
  const ProcessKey other = {.pid = 1, .start_ns = 9, .exec_id = 3};
  EXPECT_EQ(waits.Find(other, 1, 10), nullptr);
}

TEST(LiveWaitsTest, APendingCaptureLendsItsCookie) {
  LiveWaits waits(100);
  EXPECT_EQ(waits.Begin(Thread(1, 10, 0x1234))->cookie, 0x1234u);
}

TEST(LiveWaitsTest, KeepsTheFirstStack) {
  LiveWaits waits(100);
  const uint64_t cookie = waits.Begin(Thread(1, 10))->cookie;
  waits.Resolve(cookie + 1, 4);
  EXPECT_FALSE(waits.Find(kProcess, 1, 10)->user_stack.has_value());
  waits.Resolve(cookie, 5);
  waits.Resolve(cookie, 6);
  EXPECT_EQ(waits.Find(kProcess, 1, 10)->user_stack, 5u);
}

TEST(LiveWaitsTest, TheStackOfAnOlderWaitIsNotThatOfALaterOne) {
  LiveWaits waits(100);
  const uint64_t first = waits.Begin(Thread(1, 10))->cookie;
  waits.Begin(Thread(1, 11));
  waits.Resolve(first, 5);
  EXPECT_FALSE(waits.Find(kProcess, 1, 11)->user_stack.has_value());
}

TEST(LiveWaitsTest, AllAreForgottenAtTheLimit) {
  LiveWaits waits(2);
  waits.Begin(Thread(1, 10));
  waits.Begin(Thread(2, 10));
  EXPECT_NE(waits.Find(kProcess, 1, 10), nullptr);
  const uint64_t cookie = waits.Begin(Thread(3, 10))->cookie;
  EXPECT_EQ(waits.Find(kProcess, 1, 10), nullptr);
  EXPECT_NE(waits.Find(kProcess, 3, 10), nullptr);
  waits.Resolve(cookie, 1);
  EXPECT_TRUE(waits.Find(kProcess, 3, 10)->user_stack.has_value());
}

}  // namespace
}  // namespace offcpu

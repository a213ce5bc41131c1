#include "recorder/live_waits.h"

#include <memory>

#include "gtest/gtest.h"
#include "process/module.h"

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

UserStack AStack(uint64_t address, const Module* module = nullptr) {
  UserStack stack;
  stack.frames.push_back({.code = module, .address = address});
  return stack;
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
  waits.Resolve(cookie + 1, AStack(4));
  EXPECT_EQ(waits.Find(kProcess, 1, 10)->stack, nullptr);
  waits.Resolve(cookie, AStack(5));
  waits.Resolve(cookie, AStack(6));
  EXPECT_EQ(waits.Find(kProcess, 1, 10)->stack->stack, AStack(5));
}

TEST(LiveWaitsTest, TheStackOfAnOlderWaitIsNotThatOfALaterOne) {
  LiveWaits waits(100);
  const uint64_t first = waits.Begin(Thread(1, 10))->cookie;
  waits.Begin(Thread(1, 11));
  waits.Resolve(first, AStack(5));
  EXPECT_EQ(waits.Find(kProcess, 1, 11)->stack, nullptr);
}

TEST(LiveWaitsTest, AllAreForgottenAtTheLimit) {
  LiveWaits waits(2);
  waits.Begin(Thread(1, 10));
  waits.Begin(Thread(2, 10));
  EXPECT_NE(waits.Find(kProcess, 1, 10), nullptr);
  const uint64_t cookie = waits.Begin(Thread(3, 10))->cookie;
  EXPECT_EQ(waits.Find(kProcess, 1, 10), nullptr);
  EXPECT_NE(waits.Find(kProcess, 3, 10), nullptr);
  waits.Resolve(cookie, AStack(1));
  EXPECT_NE(waits.Find(kProcess, 3, 10)->stack, nullptr);
}

TEST(LiveWaitsTest, AStackKeepsItsModules) {
  auto module = std::make_shared<Module>();
  const std::weak_ptr<Module> observed = module;
  LiveWaits waits(100);
  UserStack stack = AStack(5, module.get());
  stack.frames.push_back(stack.frames[0]);
  waits.Resolve(waits.Begin(Thread(1, 10))->cookie, stack);
  EXPECT_EQ(waits.Find(kProcess, 1, 10)->stack->code.size(), 1u);
  module.reset();
  EXPECT_FALSE(observed.expired());
  waits.Begin(Thread(1, 11));
  EXPECT_TRUE(observed.expired()) << "of a wait that is over";
}

TEST(LiveWaitsTest, WhatFailedAtOneMomentMayBeTriedAgain) {
  for (const NoUserStack failed :
       {NoUserStack::kStale, NoUserStack::kOnCpu, NoUserStack::kOverload, NoUserStack::kUnreadableProcess}) {
    LiveWaits waits(100);
    LiveWait* first = waits.Begin(Thread(1, 10));
    const uint64_t cookie = first->cookie;
    waits.Fail(cookie, failed);
    const LiveWait* again = waits.Begin(Thread(1, 10));
    ASSERT_NE(again, nullptr) << Name(failed);
    EXPECT_EQ(again->failed, NoUserStack::kNone);
    EXPECT_NE(again->cookie, cookie) << "its failure has been told";
  }
  for (const NoUserStack failed : {NoUserStack::kTargetStuck, NoUserStack::kUnreadable}) {
    LiveWaits waits(100);
    waits.Fail(waits.Begin(Thread(1, 10))->cookie, failed);
    EXPECT_EQ(waits.Begin(Thread(1, 10)), nullptr) << Name(failed);
  }
}

TEST(LiveWaitsTest, AStackThatCameAfterAFailureCounts) {
  LiveWaits waits(100);
  const uint64_t cookie = waits.Begin(Thread(1, 10))->cookie;
  waits.Fail(cookie, NoUserStack::kStale);
  waits.Resolve(cookie, AStack(5));
  EXPECT_EQ(waits.Begin(Thread(1, 10)), nullptr);
  EXPECT_NE(waits.Find(kProcess, 1, 10)->stack, nullptr);
}

TEST(LiveWaitsTest, ACaptureAfterTheWaitIsItsStackToo) {
  LiveWaits waits(100);
  LiveWait* wait = waits.Begin(Thread(1, 10));
  const uint64_t cookie = wait->cookie;
  waits.Link(*wait, 1, 0x77);
  ASSERT_NE(waits.Resolve(0x77, AStack(5)), nullptr);
  EXPECT_EQ(waits.Find(kProcess, 1, 10)->cookie, cookie);
  EXPECT_EQ(waits.Find(kProcess, 1, 10)->stack->stack, AStack(5));
  EXPECT_EQ(waits.Resolve(0x77, AStack(6)), nullptr) << "no news";
  waits.Begin(Thread(1, 11));
  EXPECT_EQ(waits.Resolve(0x77, AStack(6)), nullptr) << "of another wait";
}

TEST(LiveWaitsTest, KeepsThoseThatGoOnFromWindowToWindow) {
  LiveWaits waits(100);
  const uint64_t cookie = waits.Begin(Thread(1, 10))->cookie;
  waits.Begin(Thread(2, 10));
  waits.BeginWindow({Thread(1, 10), Thread(2, 11)});
  waits.Begin(Thread(3, 10));
  EXPECT_EQ(waits.size(), 3u) << "an interval of theirs may be on its way";
  waits.ForgetOtherWindows();
  EXPECT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits.Find(kProcess, 2, 10), nullptr);
  EXPECT_NE(waits.Find(kProcess, 3, 10), nullptr);
  waits.Resolve(cookie, AStack(5));
  EXPECT_NE(waits.Find(kProcess, 1, 10)->stack, nullptr);
}

}  // namespace
}  // namespace offcpu

// Which stack a wait has, under whichever name it came, and for how long that is known.
#include "recorder/stacks.h"

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/recorder/fake_host.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kCookie = 5;
constexpr uint64_t kStart = 1'000'000;

class StacksTest : public ::testing::Test {
 protected:
  StacksTest() {
    host_.walks = true;
    Make({.remember_ns = 1000});
  }
  void Make(const Stacks::Limits& limits) { stacks_ = std::make_unique<Stacks>(limits, host_, kStart); }

  static UserStack AStack(uint64_t address, size_t frames = 1) {
    UserStack stack;
    for (size_t i = 0; i < frames; ++i) stack.frames.push_back({.code = nullptr, .address = address + i});
    return stack;
  }
  std::vector<uint64_t> NewsOf() {
    std::vector<uint64_t> cookies;
    for (const StackNews& news : stacks_->TakeNews()) cookies.push_back(news.cookie);
    return cookies;
  }
  static IntervalEvent Ended(uint64_t switches, uint64_t cookie) {
    IntervalEvent event = AnInterval(cookie, 10);
    event.switches = switches;
    if (cookie == 0) event.missing = NoUserStack::kUnsupported;
    return event;
  }
  static IntervalEvent Open(uint64_t switches) {
    IntervalEvent event = Ended(switches, 0);
    event.kind = WaitKind::kOpen;
    event.missing = NoUserStack::kStale;
    return event;
  }
  uint64_t BeginWait(uint64_t switches, uint64_t cookie = 0) {
    return stacks_->BeginWait(AWaitingThread(switches, cookie))->cookie;
  }
  // The walk of a BPF program has come to this stack, which gets an id.
  uint64_t Learn(const UserStack& stack) {
    WalkTrace trace;
    for (const Frame& frame : stack.frames) {
      trace.pcs.push_back(frame.address);
      trace.steps.push_back({.lookup_pc = frame.address, .is_end = true});
    }
    stacks_->known().Learn(ACapture(1, kVersion1), stack, trace);
    return host_.told.back().stack_id;
  }

  FakeHost host_;
  std::unique_ptr<Stacks> stacks_;
};

TEST_F(StacksTest, TheFirstOutcomeOfACookieStays) {
  EXPECT_EQ(stacks_->Find(kCookie), nullptr);
  stacks_->Fail(kCookie, NoUserStack::kGone);
  stacks_->Resolve(kCookie, AStack(1));
  stacks_->Resolve(kCookie + 1, AStack(1));
  stacks_->Fail(kCookie + 1, NoUserStack::kGone);
  EXPECT_EQ(stacks_->Find(kCookie)->stack, nullptr);
  EXPECT_EQ(stacks_->Find(kCookie)->missing, NoUserStack::kGone);
  EXPECT_EQ(stacks_->Find(kCookie + 1)->stack->stack, AStack(1));
  EXPECT_EQ(stacks_->Find(kCookie + 1)->missing, NoUserStack::kNone);
  EXPECT_THAT(NewsOf(), ElementsAre(kCookie, kCookie + 1));
  EXPECT_THAT(NewsOf(), IsEmpty()) << "told once";
}

TEST_F(StacksTest, NoCookieHasNoOutcome) {
  stacks_->Resolve(0, AStack(1));
  EXPECT_EQ(stacks_->Find(0), nullptr);
  EXPECT_THAT(NewsOf(), IsEmpty());
}

TEST_F(StacksTest, AnOutcomeIsForgottenAfterItsTimeAndNotBefore) {
  stacks_->Resolve(kCookie, AStack(1));
  stacks_->Advance(kStart + 1000);
  EXPECT_NE(stacks_->Find(kCookie), nullptr);
  stacks_->Advance(kStart + 1001);
  EXPECT_EQ(stacks_->Find(kCookie), nullptr);
  stacks_->Resolve(kCookie, AStack(2));
  stacks_->Advance(1);  // time does not go back
  stacks_->Advance(kStart + 2001);
  EXPECT_NE(stacks_->Find(kCookie), nullptr);
}

TEST_F(StacksTest, AWindowThatEndsForgetsNoOutcome) {
  stacks_->Resolve(kCookie, AStack(1));
  stacks_->BeginWindow({});
  stacks_->ForgetOtherWindows();
  EXPECT_NE(stacks_->Find(kCookie), nullptr);
}

TEST_F(StacksTest, OutcomesAreBoundedInNumber) {
  Make({.outcomes = 2});
  for (uint64_t cookie = 1; cookie <= 3; ++cookie) stacks_->Fail(cookie, NoUserStack::kGone);
  EXPECT_EQ(stacks_->Find(1), nullptr);
  EXPECT_NE(stacks_->Find(2), nullptr);
  EXPECT_NE(stacks_->Find(3), nullptr);
  EXPECT_EQ(stacks_->outcomes(), 2u);
}

// Equal stacks take the room of one. What takes no room is forgotten by its age all the same.
TEST_F(StacksTest, OutcomesAreBoundedInFrames) {
  Make({.frames = 10});
  for (uint64_t cookie = 1; cookie <= 100; ++cookie) stacks_->Resolve(cookie, AStack(1, 5));
  EXPECT_EQ(stacks_->outcomes(), 100u);
  stacks_->Resolve(101, AStack(2, 5));
  EXPECT_EQ(stacks_->outcomes(), 101u);
  stacks_->TakeNews();
  stacks_->Resolve(102, AStack(3, 1));
  EXPECT_EQ(stacks_->outcomes(), 2u) << "the last of the hundred makes room";
  EXPECT_EQ(stacks_->Find(100), nullptr);
  EXPECT_NE(stacks_->Find(101), nullptr);
}

// Those that wait get it all the same.
TEST_F(StacksTest, AnOutcomeThatFindsNoRoomIsNews) {
  Make({.outcomes = 0, .frames = 0});
  stacks_->Resolve(kCookie, AStack(1));
  EXPECT_EQ(stacks_->Find(kCookie), nullptr);
  const std::vector<StackNews> news = stacks_->TakeNews();
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(news[0].outcome.stack->stack, AStack(1));
}

TEST_F(StacksTest, AnEventHasItsOwnCookieAtFirst) {
  EXPECT_EQ(stacks_->FindFor(Ended(40, kCookie)).cookie, kCookie);
  EXPECT_EQ(stacks_->FindFor(Ended(40, 0)).missing, NoUserStack::kUnsupported);
  EXPECT_EQ(stacks_->FindFor(Open(40)).missing, NoUserStack::kStale);
}

TEST_F(StacksTest, AStackThatWasReadServesTheWaitHoweverThatEnds) {
  const uint64_t cookie = BeginWait(40);
  EXPECT_EQ(stacks_->FindFor(Open(40)).cookie, cookie);
  EXPECT_EQ(stacks_->FindFor(Open(41)).cookie, 0u) << "another wait";
  stacks_->Resolve(cookie, AStack(1));
  for (const IntervalEvent& event : {Open(40), Ended(40, 0), Ended(40, 77)}) {
    const EventStack found = stacks_->FindFor(event);
    ASSERT_NE(found.stack, nullptr);
    EXPECT_EQ(*found.stack, AStack(1));
    EXPECT_EQ(found.id, 0u);
    EXPECT_EQ(found.cookie, 0u) << "its own capture is not needed any more";
  }
  EXPECT_EQ(stacks_->FindFor(Ended(41, 77)).cookie, 77u);
}

// However long after, and whatever has become of the outcome of its cookie.
TEST_F(StacksTest, AStackIsKeptAsLongAsItsWait) {
  const uint64_t cookie = BeginWait(40);
  stacks_->Resolve(cookie, AStack(1));
  for (uint64_t window = 1; window <= 3; ++window) {
    stacks_->Advance(kStart + window * 1'000'000);
    stacks_->BeginWindow({AWaitingThread(40)});
    stacks_->ForgetOtherWindows();
    EXPECT_EQ(stacks_->Find(cookie), nullptr);
    ASSERT_NE(stacks_->FindFor(Open(40)).stack, nullptr);
    EXPECT_EQ(*stacks_->FindFor(Open(40)).stack, AStack(1));
  }
  stacks_->BeginWindow({AWaitingThread(41)});
  stacks_->ForgetOtherWindows();
  EXPECT_EQ(stacks_->FindFor(Open(40)).stack, nullptr);
  EXPECT_EQ(stacks_->waits(), 0u);
}

TEST_F(StacksTest, TheCaptureOfAWaitThatHasEndedIsTheStackOfBothCookies) {
  const uint64_t cookie = BeginWait(40);
  EXPECT_EQ(stacks_->FindFor(Ended(40, 77)).cookie, 77u);
  stacks_->Resolve(77, AStack(1));
  EXPECT_THAT(NewsOf(), ElementsAre(77, cookie));
  EXPECT_EQ(stacks_->Find(77)->stack, stacks_->Find(cookie)->stack);
  EXPECT_EQ(*stacks_->FindFor(Open(40)).stack, AStack(1));
}

TEST_F(StacksTest, AWaitMayHaveTheCookieOfItsStay) {
  EXPECT_EQ(BeginWait(40, kCookie), kCookie);
  EXPECT_EQ(stacks_->FindFor(Ended(40, kCookie)).cookie, kCookie);
  stacks_->Resolve(kCookie, AStack(1));
  EXPECT_THAT(NewsOf(), ElementsAre(kCookie));
}

TEST_F(StacksTest, AWaitWhoseStackCouldNotBeReadSaysWhy) {
  stacks_->Fail(BeginWait(40), NoUserStack::kUnreadable);
  EXPECT_EQ(stacks_->FindFor(Open(40)).missing, NoUserStack::kUnreadable);
  EXPECT_EQ(stacks_->FindFor(Ended(40, 77)).cookie, 77u) << "it has a capture";
}

// The outcome of the cookie stays, and what comes under the wait from then on has the stack.
TEST_F(StacksTest, AStackThatComesAfterAReasonIsThatOfTheWait) {
  const uint64_t cookie = BeginWait(40);
  stacks_->Fail(cookie, NoUserStack::kTargetStuck);
  stacks_->Resolve(cookie, AStack(1));  // the read was only slow
  EXPECT_EQ(stacks_->Find(cookie)->missing, NoUserStack::kTargetStuck);
  EXPECT_THAT(NewsOf(), ElementsAre(cookie));
  EXPECT_EQ(*stacks_->FindFor(Open(40)).stack, AStack(1));
}

TEST_F(StacksTest, AWalkOfABpfProgramIsTheStackOfItsWait) {
  const uint64_t cookie = BeginWait(40);
  const uint64_t id = Learn(AStack(1));
  IntervalEvent event = Ended(40, 0);
  event.missing = NoUserStack::kNone;
  event.user_stack = id;
  const EventStack found = stacks_->FindFor(event);
  EXPECT_EQ(found.id, id);
  EXPECT_EQ(*found.stack, AStack(1));
  EXPECT_EQ(stacks_->Find(cookie)->stack->stack, AStack(1)) << "for windows in which it was open";
  EXPECT_THAT(NewsOf(), ElementsAre(cookie));
  stacks_->FindFor(event);
  EXPECT_THAT(NewsOf(), IsEmpty());
}

// It has no number of its own.
TEST_F(StacksTest, ASumIsOfNoWait) {
  BeginWait(40);
  IntervalEvent sum = Ended(40, 0);
  sum.waits = 2;
  sum.user_stack = Learn(AStack(1));
  EXPECT_EQ(*stacks_->FindFor(sum).stack, AStack(1));
  EXPECT_THAT(NewsOf(), IsEmpty());
  sum.user_stack += 1;
  EXPECT_EQ(stacks_->FindFor(sum).stack, nullptr) << "nobody knows that one";
}

TEST_F(StacksTest, WaitsAreBoundedInThreads) {
  Make({.waits = 1});
  BeginWait(40);
  WaitingThread other = AWaitingThread(40);
  other.tid = 7;
  EXPECT_NE(stacks_->BeginWait(other), nullptr);
  EXPECT_EQ(stacks_->waits(), 1u);
  EXPECT_EQ(stacks_->FindWait(AWaitingThread(40)), nullptr);
}

}  // namespace
}  // namespace offcpu

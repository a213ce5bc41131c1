#include "recorder/known_stacks.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "process/machine.h"
#include "tests/recorder/fake_host.h"
#include "unwind/apply.h"

namespace offcpu {
namespace {

constexpr uint64_t kLeafPc = 0x1008;
constexpr uint64_t kCallerPc = 0x2010;

class KnownStacksTest : public testing::Test {
 protected:
  KnownStacksTest() {
    host_.walks = true;
    module_->matches_file = true;
    stack_.frames = {{.code = module_.get(), .address = kLeafPc},
                     {.code = module_.get(), .address = kCallerPc, .exact = false}};
    trace_.pcs = {kLeafPc, kCallerPc};
    trace_.steps = {{.lookup_pc = kLeafPc, .row = WithCfa(kX86_64.sp, 24)},
                    {.lookup_pc = kCallerPc - 1, .is_end = true}};
  }

  // The return address is below the CFA, and the frame pointer as it was.
  static UnwindRow WithCfa(uint8_t reg, int32_t offset) {
    return {.cfa = {.offset = offset, .reg = reg},
            .ra = {.offset = -8, .place = Place::kAtCfa},
            .fp = {.place = Place::kUnchanged}};
  }

  KnownStacks Make(const KnownStacks::Limits& limits = {}) { return KnownStacks(host_, limits); }
  uint64_t IdOf(uint64_t code_hash, std::span<const uint64_t> pcs) const { return host_.StackIdOf(code_hash, pcs); }
  uint64_t id() const { return IdOf(kVersion1.hash, trace_.pcs); }

  FakeHost host_;
  std::vector<ToldWalk>& told_ = host_.told;
  int& forgotten_ = host_.forgotten_walks;
  uint64_t& all_have_id_ = host_.all_have_id;
  std::shared_ptr<Module> module_ = std::make_shared<Module>();
  UserStack stack_;
  WalkTrace trace_;
};

TEST_F(KnownStacksTest, ACompleteWalkIsToldAndFound) {
  KnownStacks known = Make();
  EXPECT_FALSE(known.Learn(ACapture(1, kVersion1), stack_, trace_)) << "nothing was walked by others";
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_EQ(told_[0].code_hash, kVersion1.hash);
  EXPECT_EQ(told_[0].stack_id, id());
  ASSERT_EQ(told_[0].rows.size(), 2u);
  EXPECT_EQ(told_[0].rows[0], (UserRow{.lookup_pc = kLeafPc, .cfa_offset = 24}));
  EXPECT_EQ(told_[0].rows[1], (UserRow{.lookup_pc = kCallerPc - 1, .cfa = UserRow::Cfa::kNone}));
  ASSERT_NE(known.Find(id()), nullptr);
  EXPECT_EQ(*known.Find(id()), stack_);
  EXPECT_EQ(known.Find(id() + 1), nullptr);
}

TEST_F(KnownStacksTest, FramePointersAreFollowed) {
  KnownStacks known = Make();
  trace_.steps[0].row = WithCfa(kX86_64.fp, 16);
  trace_.steps[0].row.fp = {.offset = -16, .place = Place::kAtCfa};
  known.Learn(ACapture(1, kVersion1), stack_, trace_);
  trace_.steps[0].row.fp = {.place = Place::kUndefined};
  known.Learn(ACapture(2, kVersion1), stack_, trace_);
  ASSERT_EQ(told_.size(), 2u);
  EXPECT_EQ(told_[0].rows[0], (UserRow{.lookup_pc = kLeafPc,
                                       .cfa = UserRow::Cfa::kFramePointer,
                                       .cfa_offset = 16,
                                       .fp = UserRow::FramePointer::kAtCfa,
                                       .fp_offset = -16}));
  EXPECT_EQ(told_[1].rows[0].fp, UserRow::FramePointer::kLost);
}

TEST_F(KnownStacksTest, WhatABpfProgramCannotApplyIsNotTold) {
  KnownStacks known = Make();
  const UnwindRow fine = trace_.steps[0].row;
  const auto expect_untold = [&](const UnwindRow& row, const std::string& why) {
    trace_.steps[0].row = row;
    known.Learn(ACapture(1, kVersion1), stack_, trace_);
    EXPECT_TRUE(told_.empty()) << why;
    EXPECT_EQ(known.Find(id()), nullptr) << why;
  };
  UnwindRow row = fine;
  row.cfa.deref = true;
  expect_untold(row, "the CFA is in memory");
  row = fine;
  row.cfa.reg = kX86_64.extra;
  expect_untold(row, "the CFA is of another register");
  row = fine;
  row.cfa.offset = 12;
  expect_untold(row, "the CFA is no whole number of words away");
  row = fine;
  row.ra.offset = -16;
  expect_untold(row, "the return address is elsewhere");
  row = fine;
  row.fp = {.place = Place::kInRegister, .reg = 3};
  expect_untold(row, "the frame pointer is in another register");
}

TEST_F(KnownStacksTest, WhatCannotBeFollowedOrIsAnothersIsNotTold) {
  KnownStacks known = Make();
  const auto expect_untold = [&](const CodeVersion& version, const std::string& why) {
    known.Learn(ACapture(1, version), stack_, trace_);
    EXPECT_TRUE(told_.empty()) << why;
  };
  stack_.end = EndReason::kStackCopy;
  trace_.steps[1].is_end = false;
  expect_untold(kVersion1, "there is more of the stack");
  stack_.end = EndReason::kComplete;
  trace_.is_followable = false;
  expect_untold(kVersion1, "a register has decided");
  trace_.is_followable = true;
  trace_.pcs.push_back(kCallerPc + 1);
  expect_untold(kVersion1, "it is not known where the last frame leads");
  trace_.pcs.pop_back();
  expect_untold({.sequence = 2, .hash = 0}, "the code is not known");
  module_->matches_file = false;
  expect_untold(kVersion1, "the process has changed its tables");
}

// Such as that of a stack of Go that goes on on another one.
TEST_F(KnownStacksTest, AnEndThatIsNoneIsTold) {
  KnownStacks known = Make();
  stack_.end = EndReason::kOtherStack;
  known.Learn(ACapture(1, kVersion1), stack_, trace_);
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_EQ(known.Find(id())->end, EndReason::kOtherStack);
}

TEST_F(KnownStacksTest, CodeInMemoryIsOneProcesssOwnAndTold) {
  KnownStacks known = Make();
  stack_.frames[0].code = nullptr;
  known.Learn(ACapture(1, kVersion1), stack_, trace_);
  EXPECT_EQ(told_.size(), 1u);
  EXPECT_EQ(*known.Find(id()), stack_);
}

TEST_F(KnownStacksTest, AGuessIsOneUntilAWalkHasProvenIt) {
  KnownStacks known = Make();
  trace_.is_fixed = false;
  for (const EndReason end : {EndReason::kGuessedEnd, EndReason::kComplete, EndReason::kGuessedEnd}) {
    const EndReason before = known.Find(id()) == nullptr ? end : known.Find(id())->end;
    stack_.end = end;
    known.Learn(ACapture(1, kVersion1), stack_, trace_);
    const bool is_proven = before == EndReason::kComplete || end == EndReason::kComplete;
    EXPECT_EQ(known.Find(id())->end, is_proven ? EndReason::kComplete : EndReason::kGuessedEnd);
  }
}

TEST_F(KnownStacksTest, WhatWasCutHasANameOfItsOwn) {
  KnownStacks known = Make();
  const uint64_t whole = id();
  stack_.end = EndReason::kGeneratedCode;
  trace_.is_cut = true;
  trace_.steps[1] = {.lookup_pc = kCallerPc - 1, .row = WithCfa(kX86_64.fp, 16)};
  trace_.steps[1].row.source = FrameSource::kFramePointer;
  known.Learn(ACapture(1, kVersion1), stack_, trace_);
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_EQ(told_[0].stack_id, IdOf(kVersion1.hash, std::vector<uint64_t>{kLeafPc, kCallerPc, ~uint64_t{0}}));
  EXPECT_NE(told_[0].stack_id, whole);
  EXPECT_TRUE(told_[0].rows[1].is_guess);
  EXPECT_FALSE(told_[0].rows[0].is_guess);
}

// Odd numbers: see wire_mixture.
TEST_F(KnownStacksTest, MadeCodeIsToldWithItsVersion) {
  KnownStacks known = Make();
  trace_.steps[1] = {.lookup_pc = kCallerPc - 1, .row = WithCfa(kX86_64.fp, 16)};
  trace_.steps[1].row.source = FrameSource::kRuntime;
  trace_.steps[1].row.kept_sp = -1;
  trace_.made = {{.step = 1,
                  .stamp = {.address = 0x1f80, .offset = 0x40, .words = {7, 1}, .behind = 42},
                  .shown = {8, 3},
                  .shown_values = {0xbc, 0x3e7}}};
  known.Learn(ACapture(1, kVersion1), stack_, trace_);
  const uint64_t version = 7 * 0x9e3779b97f4a7c15 + 0xbf58476d1ce4e5b9 + 42 * 0x94d049bb133111eb;
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_EQ(told_[0].rows[1], (UserRow{.lookup_pc = kCallerPc - 1,
                                       .cfa = UserRow::Cfa::kFramePointer,
                                       .cfa_offset = 16,
                                       .version = version,
                                       .version_address = 0x1f80,
                                       .version_offset = 0x40,
                                       .shown = {8, 3},
                                       .keeps_sp = true}));
  EXPECT_EQ(told_[0].stack_id, IdOf(kVersion1.hash, std::vector<uint64_t>{kLeafPc, kCallerPc, version, 0xbc, 0x3e7}));
}

TEST_F(KnownStacksTest, StackPointersThatAreKeptElsewhereAreNotFollowed) {
  KnownStacks known = Make();
  trace_.steps[0].row = WithCfa(kX86_64.fp, 16);
  trace_.steps[0].row.kept_sp = -2;
  known.Learn(ACapture(1, kVersion1), stack_, trace_);
  trace_.steps[0].row.kept_sp = -1;
  trace_.steps[0].row.cfa.offset = 24;
  known.Learn(ACapture(1, kVersion1), stack_, trace_);
  EXPECT_TRUE(told_.empty());
}

TEST_F(KnownStacksTest, TrampolinesLeadToWhatWasInterrupted) {
  KnownStacks known = Make();
  trace_.steps[0].row = KernelContextRow(kX86_64);
  known.Learn(ACapture(1, kVersion1), stack_, trace_);
  ASSERT_EQ(told_.size(), 1u);
  EXPECT_EQ(told_[0].rows[0], (UserRow{.lookup_pc = kLeafPc, .cfa = UserRow::Cfa::kContext}));
}

// By a row that is a guess a BPF program may come to nothing. To a stack that is known it must not.
TEST_F(KnownStacksTest, AGuessMayLeadNowhereButNotAstray) {
  KnownStacks known = Make();
  known.Learn(ACapture(1, kVersion1), stack_, trace_);
  const uint64_t other = id();
  trace_.is_fixed = false;
  trace_.pcs.back() += 4;
  CaptureEvent capture = ACapture(2, kVersion1);
  capture.walked_code = kVersion1.hash;
  capture.walked = id() + 1;
  EXPECT_FALSE(known.Learn(capture, stack_, trace_));
  EXPECT_EQ(known.wrong(), 0u);
  capture.walked = other;
  EXPECT_FALSE(known.Learn(capture, stack_, trace_));
  EXPECT_EQ(known.wrong(), 1u);
  EXPECT_EQ(known.Find(other), nullptr) << "nothing of this code is believed any more";
}

TEST_F(KnownStacksTest, WhereNobodyWalksNothingIsLearned) {
  host_.walks = false;
  KnownStacks known = Make();
  EXPECT_FALSE(known.learns());
  known.Learn(ACapture(1, kVersion1), stack_, trace_);
  known.BeginWindow();
  EXPECT_EQ(known.Find(id()), nullptr);
}

TEST_F(KnownStacksTest, ACaptureProvesAWalk) {
  KnownStacks known = Make();
  CaptureEvent capture = ACapture(1, kVersion1);
  capture.walked = id();
  capture.walked_code = kVersion1.hash;
  EXPECT_TRUE(known.Learn(capture, stack_, trace_));
  EXPECT_EQ(known.wrong(), 0u);
}

TEST_F(KnownStacksTest, AfterAWrongWalkNothingIsToldOfCodeLikeThat) {
  KnownStacks known = Make();
  known.Learn(ACapture(1, kVersion1), stack_, trace_);
  CaptureEvent capture = ACapture(2, kVersion1);
  capture.walked = id() + 1;
  capture.walked_code = kVersion1.hash;
  EXPECT_FALSE(known.Learn(capture, stack_, trace_));
  EXPECT_EQ(known.wrong(), 1u);
  EXPECT_EQ(forgotten_, 1);
  told_.clear();
  known.Learn(ACapture(3, kVersion1), stack_, trace_);
  EXPECT_TRUE(told_.empty());
  known.Learn(ACapture(4, kVersion2), stack_, trace_);
  EXPECT_EQ(told_.size(), 1u);
}

// Something was mapped while the thread was on its way back.
TEST_F(KnownStacksTest, WalksOfOtherCodeAreNotCompared) {
  KnownStacks known = Make();
  CaptureEvent capture = ACapture(1, kVersion2);
  capture.walked = id();
  capture.walked_code = kVersion1.hash;
  EXPECT_FALSE(known.Learn(capture, stack_, trace_));
  EXPECT_EQ(known.wrong(), 0u);
  EXPECT_EQ(told_.size(), 1u);
}

// Nothing says which of the two it is: neither is shown, and the programs learn no more of the code of either.
TEST_F(KnownStacksTest, AnIdOfTwoStacksIsOfNone) {
  for (const bool other_code : {true, false}) {
    KnownStacks known = Make();
    all_have_id_ = 9;
    known.Learn(ACapture(1, kVersion1), stack_, trace_);
    known.Learn(ACapture(1, kVersion1), stack_, trace_);
    EXPECT_NE(known.Find(9), nullptr);
    EXPECT_EQ(known.conflicts(), 0u);
    if (!other_code) trace_.pcs[1] = kCallerPc + 1;
    known.Learn(ACapture(2, other_code ? kVersion2 : kVersion1), stack_, trace_);
    EXPECT_EQ(known.Find(9), nullptr);
    EXPECT_EQ(known.conflicts(), 1u);
    EXPECT_EQ(known.wrong(), 0u);
    EXPECT_GT(std::exchange(forgotten_, 0), 0);
    all_have_id_ = 0;
    told_.clear();
    known.Learn(ACapture(3, kVersion1), stack_, trace_);
    EXPECT_TRUE(told_.empty());
    known.Learn(ACapture(4, kVersion2), stack_, trace_);
    EXPECT_EQ(told_.empty(), other_code);
  }
}

// It may still be under way when the programs learn all anew.
TEST_F(KnownStacksTest, AnIdOfTwoStacksIsFoundAmongThoseToldBefore) {
  KnownStacks known = Make({.windows = 1});
  all_have_id_ = 9;
  known.Learn(ACapture(1, kVersion1), stack_, trace_);
  known.BeginWindow();
  known.Learn(ACapture(2, kVersion2), stack_, trace_);
  EXPECT_EQ(known.Find(9), nullptr);
  EXPECT_EQ(known.conflicts(), 1u);
}

TEST_F(KnownStacksTest, OfDistrustedCodeNothingIsFound) {
  KnownStacks known = Make();
  known.Learn(ACapture(1, kVersion1), stack_, trace_);
  known.Distrust(kVersion1.hash);
  EXPECT_EQ(known.Find(id()), nullptr);
  EXPECT_EQ(forgotten_, 1);
}

// Ids of those from before may still be under way.
TEST_F(KnownStacksTest, AtTheLimitAllIsForgottenButStillFoundForAWhile) {
  KnownStacks known = Make({.stacks = 2});
  const uint64_t first = id();
  for (uint64_t i = 0; i < 3; ++i) {
    trace_.pcs[0] = kLeafPc + i;
    known.Learn(ACapture(1, kVersion1), stack_, trace_);
  }
  EXPECT_EQ(forgotten_, 1);
  EXPECT_NE(known.Find(first), nullptr);
  EXPECT_NE(known.Find(id()), nullptr);
  for (uint64_t i = 3; i < 6; ++i) {
    trace_.pcs[0] = kLeafPc + i;
    known.Learn(ACapture(1, kVersion1), stack_, trace_);
  }
  EXPECT_EQ(forgotten_, 2);
  EXPECT_EQ(known.Find(first), nullptr);
}

TEST_F(KnownStacksTest, FramesHaveALimitToo) {
  KnownStacks known = Make({.frames = 3});
  known.Learn(ACapture(1, kVersion1), stack_, trace_);
  EXPECT_EQ(forgotten_, 0);
  trace_.pcs[0] = kLeafPc + 1;
  known.Learn(ACapture(1, kVersion1), stack_, trace_);
  EXPECT_EQ(forgotten_, 1);
}

TEST_F(KnownStacksTest, AllIsLearnedAnewAfterSomeWindows) {
  KnownStacks known = Make({.windows = 2});
  known.Learn(ACapture(1, kVersion1), stack_, trace_);
  known.BeginWindow();
  EXPECT_EQ(forgotten_, 0);
  known.BeginWindow();
  EXPECT_EQ(forgotten_, 1);
  EXPECT_NE(known.Find(id()), nullptr);
  known.BeginWindow();
  known.BeginWindow();
  EXPECT_EQ(known.Find(id()), nullptr);
}

// A stack outlives the process that it was first seen in.
TEST_F(KnownStacksTest, KeepsTheModulesOfItsStacks) {
  KnownStacks known = Make();
  known.Learn(ACapture(1, kVersion1), stack_, trace_);
  const std::weak_ptr<Module> module = module_;
  module_.reset();
  EXPECT_FALSE(module.expired());
}

}  // namespace
}  // namespace offcpu

// The functions that threads of a made-up CPython run. The thread is the test's own: a reading finds its number in
// /proc.
#include "runtimes/python/cpython.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtimes/python/interpreted_frames.h"
#include "runtimes/python/layout.h"
#include "runtimes/python/threads.h"
#include "tests/runtimes/fake_python.h"

namespace offcpu {
namespace {

using Runs = std::vector<std::pair<uint64_t, size_t>>;

class CPythonTest : public ::testing::TestWithParam<int> {
 protected:
  CPythonTest() : number_(static_cast<uint64_t>(gettid())) {
    for (const char* name : {"outer", "middle", "inner"})
      codes_.push_back(python_.Code({.name = name, .lines = {0x80 | 7, 0}}));
    const absl::StatusOr<PythonLayout> layout = ReadPythonLayout(python_.memory(), python_.symbols());
    EXPECT_TRUE(layout.ok()) << layout.status();
    cpython_ = std::make_unique<CPython>(*layout);
    layout_ = *layout;
  }

  InterpretedStack Read() {
    InterpretedStack stack = cpython_->ReadInterpreter(python_.memory())->Read(gettid());
    functions_.clear();
    runs_.clear();
    for (const Frame& frame : stack.frames) {
      EXPECT_EQ(frame.kind, FrameKind::kInterpreted);
      functions_.push_back(AsRuntimeCode(frame.code)->LinesAt(frame.address).front().function);
    }
    for (const InterpretedRun& run : stack.runs) runs_.emplace_back(run.at, run.frames);
    return stack;
  }
  uint64_t Call(uint64_t thread, size_t code, uint64_t unit = 2, uint8_t owner = 0) {
    return python_.Call(thread, codes_[code], python_.InstructionOf(codes_[code], unit), owner);
  }

  const uint64_t number_;
  FakePython python_{GetParam()};
  PythonLayout layout_;
  std::vector<uint64_t> codes_;
  std::unique_ptr<CPython> cpython_;
  std::vector<std::string> functions_;
  Runs runs_;
};
INSTANTIATE_TEST_SUITE_P(Python3, CPythonTest, testing::Values(11, 12, 13, 14));

TEST_P(CPythonTest, FramesOfOneRun) {
  const uint64_t thread = python_.AddThread(number_);
  const uint64_t at = python_.Enter(thread);
  for (const size_t code : {0, 1, 2}) Call(thread, code);
  EXPECT_EQ(Read().missing, "");
  EXPECT_EQ(functions_, (std::vector<std::string>{"inner", "middle", "outer"}));
  EXPECT_EQ(runs_, (Runs{{at, 3}}));
}

TEST_P(CPythonTest, EachEntryFromCIsARun) {
  const uint64_t thread = python_.AddThread(number_);
  const uint64_t first = python_.Enter(thread);
  Call(thread, 0);
  Call(thread, 1);
  const uint64_t second = python_.Enter(thread);
  Call(thread, 2, 2, /*owner=*/1);
  EXPECT_EQ(Read().missing, "");
  EXPECT_EQ(functions_, (std::vector<std::string>{"inner", "middle", "outer"}));
  EXPECT_EQ(runs_, (Runs{{second, 1}, {first, 2}}));
}

TEST_P(CPythonTest, AThreadIsFoundAmongOthers) {
  for (uint64_t other = 1; other < 10; ++other) {
    const uint64_t thread = python_.AddThread(number_ + other);
    python_.Enter(thread);
    Call(thread, 1);
    if (other != 5) continue;
    const uint64_t own = python_.AddThread(number_);
    python_.Enter(own);
    Call(own, 2);
  }
  Read();
  EXPECT_EQ(functions_, std::vector<std::string>{"inner"});
}

TEST_P(CPythonTest, AThreadThatRunsNoPythonHasNothing) {
  for (const bool is_known : {false, true}) {
    if (is_known) python_.AddThread(number_);
    EXPECT_EQ(Read().missing, "");
    EXPECT_TRUE(functions_.empty());
    EXPECT_TRUE(runs_.empty());
  }
}

TEST_P(CPythonTest, AFrameThatHasYetToBeginIsNotShown) {
  codes_.push_back(python_.Code({.name = "begins", .units = 16, .first_traced = 4}));
  const uint64_t thread = python_.AddThread(number_);
  python_.Enter(thread);
  Call(thread, 0);
  Call(thread, 3, 3);
  Read();
  EXPECT_EQ(functions_, std::vector<std::string>{"outer"});
  Call(thread, 3, 4);
  Read();
  EXPECT_EQ(functions_, (std::vector<std::string>{"begins", "outer"}));
  Call(thread, 3, 3, /*owner=*/1);
  Read();
  EXPECT_EQ(functions_, (std::vector<std::string>{"begins", "begins", "outer"})) << "a generator has begun";
}

TEST_P(CPythonTest, ARunWithoutShownFramesIsThere) {
  codes_.push_back(python_.Code({.name = "begins", .units = 16, .first_traced = 4}));
  const uint64_t thread = python_.AddThread(number_);
  const uint64_t first = python_.Enter(thread);
  Call(thread, 0);
  const uint64_t second = python_.Enter(thread);
  Call(thread, 3, 0);
  Read();
  EXPECT_EQ(runs_, (Runs{{second, 0}, {first, 1}}));
}

TEST_P(CPythonTest, EqualLinesAreEqualFrames) {
  const uint64_t thread = python_.AddThread(number_);
  python_.Enter(thread);
  for (const uint64_t unit : {2, 2, 3}) Call(thread, 0, unit);
  const InterpretedStack stack = Read();
  EXPECT_EQ(stack.frames[0], stack.frames[1]);
  EXPECT_EQ(stack.frames[1], stack.frames[2]) << "another instruction of the same line";
  EXPECT_EQ(Read().frames, stack.frames) << "by another reading";
}

TEST_P(CPythonTest, AThreadInTwoInterpretersIsNotRead) {
  const uint64_t other = python_.AddInterpreter();
  const uint64_t first = python_.AddThread(number_);
  const uint64_t second = python_.AddThread(number_, other);
  python_.Enter(second);
  Call(second, 1);
  Read();
  EXPECT_EQ(functions_, std::vector<std::string>{"middle"}) << "it runs something in one of them only";
  python_.Enter(first);
  Call(first, 0);
  EXPECT_EQ(Read().missing, kPythonInterpreters);
  EXPECT_TRUE(runs_.empty());
}

TEST_P(CPythonTest, AChainInACircleEnds) {
  const uint64_t thread = python_.AddThread(number_);
  python_.Enter(thread);
  const uint64_t first = Call(thread, 0);
  const uint64_t second = Call(thread, 1);
  python_.Put(first + python_.Offset("frame.previous"), second);
  if (GetParam() == 11) python_.Put(first + python_.Offset("frame.is_entry"), uint8_t{0});
  EXPECT_EQ(Read().missing, kPythonNotRead);
  EXPECT_EQ(ReadPythonFrames(layout_, python_.memory(), thread), std::nullopt);
}

TEST_P(CPythonTest, AsManyFramesAsThereMayBe) {
  const uint64_t thread = python_.AddThread(number_);
  python_.Enter(thread);
  const uint64_t outermost = Call(thread, 0);
  const uint64_t inner = Call(thread, 1);
  // The chain would be longer than memory: one that is in a circle for so long.
  class Unrolled final : public Memory {
   public:
    Unrolled(const Memory& memory, uint64_t previous, uint64_t end) : memory_(memory), at_(previous), end_(end) {}
    bool Read(uint64_t address, std::span<std::byte> out) const override {
      if (!memory_.Read(address, out)) return false;
      if (address == at_ && left-- == 0) std::memcpy(out.data(), &end_, sizeof(end_));
      return true;
    }
    mutable size_t left = 0;

   private:
    const Memory& memory_;
    const uint64_t at_, end_;
  };
  const uint64_t previous = inner + python_.Offset("frame.previous");
  python_.Put(previous, inner);
  Unrolled memory(python_.memory(), previous, outermost);
  // With the outermost one and, from 3.12 on, the one that stands for the caller in C.
  const size_t others = GetParam() == 11 ? 1 : 2;
  memory.left = kMaxPythonFrames - others - 1;
  const std::optional<PythonFrames> frames = ReadPythonFrames(layout_, memory, thread);
  ASSERT_TRUE(frames.has_value());
  EXPECT_EQ(frames->frames.size() + (others - 1), kMaxPythonFrames);
  memory.left = kMaxPythonFrames - others;
  EXPECT_EQ(ReadPythonFrames(layout_, memory, thread), std::nullopt);
}

TEST_P(CPythonTest, FramesThatNobodyEnteredAreNotRead) {
  const uint64_t thread = python_.AddThread(number_);
  python_.Enter(thread);
  const uint64_t frame = Call(thread, 0);
  python_.Put(frame + python_.Offset("frame.previous"), uint64_t{0});
  if (GetParam() == 11) python_.Put(frame + python_.Offset("frame.is_entry"), uint8_t{0});
  EXPECT_EQ(Read().missing, kPythonNotRead);
}

TEST_P(CPythonTest, AFrameOfNoCodeIsNotRead) {
  const uint64_t thread = python_.AddThread(number_);
  python_.Enter(thread);
  Call(thread, 0);
  python_.Put(codes_[0] + python_.Offset("ob_type"), uint64_t{8});
  EXPECT_EQ(Read().missing, kPythonNotRead);
}

TEST_P(CPythonTest, AListThatDoesNotAgreeWithItselfIsNotRead) {
  const uint64_t thread = python_.AddThread(number_);
  python_.AddThread(number_ + 1);
  const uint64_t back = thread + python_.Offset("thread.prev");
  const auto before = python_.Get<uint64_t>(back);
  python_.Put(back, before + 16);
  EXPECT_EQ(Read().missing, kPythonNotRead);
  python_.Put(back, before);
  EXPECT_EQ(Read().missing, "");
  python_.Put(thread + python_.Offset("thread.interp"), uint64_t{16});
  EXPECT_EQ(Read().missing, kPythonNotRead);
}

TEST_P(CPythonTest, ListsInCirclesEnd) {
  const uint64_t thread = python_.AddThread(number_);
  python_.Put(thread + python_.Offset("thread.next"), thread);
  EXPECT_EQ(ReadPythonThreads(layout_, python_.memory()), std::nullopt);
  python_.Put(thread + python_.Offset("thread.prev"), thread);
  EXPECT_EQ(ReadPythonThreads(layout_, python_.memory()), std::nullopt);
  python_.Put(thread + python_.Offset("thread.next"), uint64_t{0});
  python_.Put(thread + python_.Offset("thread.prev"), uint64_t{0});
  ASSERT_NE(ReadPythonThreads(layout_, python_.memory()), std::nullopt);
  python_.Put(python_.interpreter() + python_.Offset("interpreter.next"), python_.interpreter());
  EXPECT_EQ(ReadPythonThreads(layout_, python_.memory()), std::nullopt);
}

TEST_P(CPythonTest, BeyondItsShareOfMemoryFunctionsHaveNoName) {
  auto budget = std::make_shared<MemoryBudget>(0);
  cpython_ = std::make_unique<CPython>(layout_, MemoryLease(budget, 1));
  const uint64_t thread = python_.AddThread(number_);
  python_.Enter(thread);
  Call(thread, 0);
  Read();
  EXPECT_EQ(functions_, std::vector<std::string>{std::string(kPythonNoRoom)});
}

}  // namespace
}  // namespace offcpu

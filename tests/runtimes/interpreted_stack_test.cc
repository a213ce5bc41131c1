// Where functions of an interpreter come to stand among native frames.
#include "runtimes/interpreted_stack.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace offcpu {
namespace {

constexpr uint64_t kCode = 0x400000;
constexpr uint64_t kTrampolines = 0x500000;

// Native frames are letters, each of 16 bytes of the stack; functions are digits, and the mark is '*', of 16 bytes too.
// A '/' is a trampoline.
class InterpretedStackTest : public ::testing::Test {
 protected:
  InterpretedStackTest() : space_({Native(), Trampolines()}) {}

  static MappedCode Native() {
    MappedCode code;
    code.begin = kCode;
    code.end = kCode + 0x1000;
    return code;
  }
  static MappedCode Trampolines() {
    MappedCode code;
    code.begin = kTrampolines;
    code.end = kTrampolines + 0x1000;
    code.copied.resize(16);
    return code;
  }

  void Walk(std::string_view frames, EndReason end = EndReason::kComplete) {
    stack_ = {.end = end};
    places_ = {};
    for (size_t i = 0; i < frames.size(); ++i) {
      const uint64_t pc = (frames[i] == '/' ? kTrampolines : kCode) + static_cast<uint64_t>(frames[i]);
      Frame frame = {.address = pc};
      if (frames[i] == '*') frame = {.address = 1000, .kind = FrameKind::kMarker};
      stack_.frames.push_back(frame);
      places_.pcs.push_back(frame.is_marker() ? 0 : pc);
      places_.sps.push_back(0x1000 + 16 * i);
    }
  }
  // What is run by the native frame at that index.
  void Run(size_t frame, std::string_view functions) {
    interpreted_.runs.push_back({.at = 0x1008 + 16 * frame, .frames = functions.size()});
    for (const char function : functions)
      interpreted_.frames.push_back({.address = static_cast<uint64_t>(function), .kind = FrameKind::kInterpreted});
  }
  std::string Place(size_t max_frames = 100) {
    if (!PlaceInterpreted(interpreted_, space_, max_frames, &stack_, &places_)) return "not placed";
    EXPECT_EQ(places_.pcs.size(), stack_.frames.size());
    EXPECT_EQ(places_.sps.size(), stack_.frames.size());
    std::string text;
    for (size_t i = 0; i < stack_.frames.size(); ++i) {
      const Frame& frame = stack_.frames[i];
      text += frame.is_marker() ? '*' : static_cast<char>(frame.address & 0xff);
      EXPECT_EQ(places_.pcs[i] != 0, frame.kind == FrameKind::kNative) << i;
    }
    return text;
  }
  uint64_t LeftOut() const {
    for (const Frame& frame : stack_.frames) {
      if (frame.is_marker()) return frame.address;
    }
    return 0;
  }

  const AddressSpace space_;
  InterpretedStack interpreted_;
  UserStack stack_;
  FramePlaces places_;
};

TEST_F(InterpretedStackTest, RunsTakeThePlaceOfTheFramesThatRunThem) {
  Walk("abLcdLe");
  Run(2, "12");
  Run(5, "345");
  EXPECT_EQ(Place(), "ab12cd345e");
  EXPECT_EQ(stack_.end, EndReason::kComplete);
  EXPECT_EQ(places_.sps,
            (std::vector<uint64_t>{0x1000, 0x1010, 0x1020, 0x1020, 0x1030, 0x1040, 0x1050, 0x1050, 0x1050, 0x1060}));
}

TEST_F(InterpretedStackTest, TheBordersOfAFrame) {
  for (const auto& [at, expected] : {std::pair(0x1010, "a1cd"), std::pair(0x101f, "a1cd"), std::pair(0x1020, "aL1d")}) {
    Walk("aLcd");
    interpreted_ = {};
    Run(0, "1");
    interpreted_.runs[0].at = static_cast<uint64_t>(at);
    EXPECT_EQ(Place(), expected) << at;
  }
}

TEST_F(InterpretedStackTest, AFrameThatRunsNothingYetStays) {
  Walk("aLcLe");
  Run(1, "");
  Run(3, "1");
  EXPECT_EQ(Place(), "aLc1e");
}

TEST_F(InterpretedStackTest, WithoutRunsNothingChanges) {
  Walk("abc");
  EXPECT_EQ(Place(), "abc");
}

TEST_F(InterpretedStackTest, TrampolinesToAFunctionAreNotSaidTwice) {
  Walk("aL/bL/c/d");
  Run(1, "1");
  Run(4, "2");
  EXPECT_EQ(Place(), "a1b2c/d") << "one that leads to no frame of these stays";
}

TEST_F(InterpretedStackTest, RunsThatDoNotAgreeWithTheFramesAreNotPlaced) {
  const auto expect_not_placed = [&](std::vector<size_t> runners) {
    Walk("aLcLe");
    interpreted_ = {};
    for (const size_t runner : runners) Run(runner, "1");
    const UserStack before = stack_;
    EXPECT_EQ(Place(), "not placed");
    EXPECT_EQ(stack_, before);
  };
  expect_not_placed({3, 1});
  expect_not_placed({1, 1});
  expect_not_placed({1, 4});   // nobody calls the outermost one, so where it ends is not known
  expect_not_placed({1, 40});  // beyond the stack, which is complete
  Walk("aLcLe");
  interpreted_ = {};
  Run(1, "1");
  interpreted_.runs[0].at = 0xfff;
  EXPECT_EQ(Place(), "not placed") << "below the stack";
}

TEST_F(InterpretedStackTest, BeyondTheEndOfAnIncompleteWalkRunsAreLeftOut) {
  Walk("aLcLe", EndReason::kStackCopy);
  Run(1, "1");
  Run(4, "2");
  Run(7, "3");
  EXPECT_EQ(Place(), "a1cLe");
  EXPECT_EQ(stack_.end, EndReason::kStackCopy);
}

TEST_F(InterpretedStackTest, AWalkWithoutFramesHasNoPlace) {
  Walk("", EndReason::kNotMapped);
  Run(1, "1");
  EXPECT_EQ(Place(), "not placed");
}

TEST_F(InterpretedStackTest, RunsAmongFramesThatWereLeftOutAreToo) {
  Walk("aL*Lb", EndReason::kFrameLimit);
  Run(1, "1");
  Run(2, "2");
  Run(2, "3");
  Run(3, "4");
  EXPECT_EQ(Place(), "a1*4b");
  EXPECT_EQ(LeftOut(), 1000u);
  interpreted_ = {};
  Walk("aL*Lb", EndReason::kFrameLimit);
  Run(9, "1");
  EXPECT_EQ(Place(), "not placed") << "the outermost frames are there";
}

TEST_F(InterpretedStackTest, StacksThatBecomeTooLongAreCutAsWalksAre) {
  Walk("abLc");
  Run(2, "1234567");
  EXPECT_EQ(Place(10), "ab1234567c");
  EXPECT_EQ(stack_.end, EndReason::kComplete);
  Walk("abLc");
  EXPECT_EQ(Place(9), "ab12*4567c") << "half of them innermost, half outermost";
  EXPECT_EQ(LeftOut(), 1u);
  EXPECT_EQ(stack_.end, EndReason::kFrameLimit);
  Walk("abLc");
  EXPECT_EQ(Place(2), "a*c");
  EXPECT_EQ(LeftOut(), 8u);
}

TEST_F(InterpretedStackTest, StacksThatWereCutBeforeKeepTheirOuterPart) {
  Walk("abL*Lcd", EndReason::kFrameLimit);
  Run(2, "12345");
  Run(4, "67");
  EXPECT_EQ(Place(6), "ab1*7cd");
  EXPECT_EQ(LeftOut(), 1000u + 5);
  Walk("aL*bcdLef", EndReason::kFrameLimit);
  interpreted_ = {};
  Run(1, "1");
  Run(6, "2345");
  EXPECT_EQ(Place(8), "a1*45ef");
  EXPECT_EQ(LeftOut(), 1000u + 5);
}

TEST_F(InterpretedStackTest, IncompleteStacksKeepTheirInnermostFrames) {
  Walk("abLc", EndReason::kNoRow);
  Run(2, "1234567");
  EXPECT_EQ(Place(5), "ab123");
  EXPECT_EQ(stack_.end, EndReason::kNoRow);
}

}  // namespace
}  // namespace offcpu

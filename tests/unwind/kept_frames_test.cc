// Which frames of deep stacks are kept, and where they lie.
#include "unwind/kept_frames.h"

#include <gtest/gtest.h>

#include <vector>

namespace offcpu {
namespace {

struct Kept {
  std::vector<uint64_t> addresses;
  FramePlaces places;
  EndReason end = EndReason::kComplete;
};

// The frame at index i has address i, the pc 100 + i, and the stack pointer 1000 + i.
Kept Keep(size_t limit, size_t count, EndReason end = EndReason::kComplete) {
  Kept kept;
  std::vector<Frame> frames;
  KeptFrames keeper(limit, &frames, &kept.places);
  for (uint64_t i = 0; i < count; ++i) keeper.Add({.address = i}, 100 + i, 1000 + i);
  kept.end = keeper.Finish(end);
  for (const Frame& frame : frames)
    kept.addresses.push_back(frame.is_marker() ? 1'000'000 + frame.address : frame.address);
  return kept;
}

TEST(KeptFramesTest, AsManyAsTheLimitStay) {
  const Kept kept = Keep(4, 4);
  EXPECT_EQ(kept.addresses, (std::vector<uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(kept.places.pcs, (std::vector<uint64_t>{100, 101, 102, 103}));
  EXPECT_EQ(kept.places.sps, (std::vector<uint64_t>{1000, 1001, 1002, 1003}));
  EXPECT_EQ(kept.end, EndReason::kComplete);
}

TEST(KeptFramesTest, OfMoreTheMiddleIsLeftOut) {
  for (const size_t count : {5, 6, 7, 8, 20}) {
    const Kept kept = Keep(4, count);
    EXPECT_EQ(kept.addresses, (std::vector<uint64_t>{0, 1, 1'000'000 + count - 4, count - 2, count - 1}));
    EXPECT_EQ(kept.places.pcs, (std::vector<uint64_t>{100, 101, 0, 100 + count - 2, 100 + count - 1}));
    EXPECT_EQ(kept.places.sps, (std::vector<uint64_t>{1000, 1001, 1002, 1000 + count - 2, 1000 + count - 1}))
        << "the mark stands for the frames from the third one on";
    EXPECT_EQ(kept.end, EndReason::kFrameLimit);
  }
}

TEST(KeptFramesTest, OfAWalkThatEndsEarlyTheInnermostStay) {
  const Kept kept = Keep(4, 6, EndReason::kStackCopy);
  EXPECT_EQ(kept.addresses, (std::vector<uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(kept.places.sps, (std::vector<uint64_t>{1000, 1001, 1002, 1003}));
  EXPECT_EQ(kept.end, EndReason::kStackCopy);
}

}  // namespace
}  // namespace offcpu

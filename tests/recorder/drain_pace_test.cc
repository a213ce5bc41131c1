#include "recorder/drain_pace.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

using Ms = DrainPace::Ms;

constexpr uint64_t kStart = 7'000'000'000;
constexpr uint64_t kSettled = kStart + 5'000'000'000;

TEST(DrainPaceTest, LittleDoublesThePeriodUpToALimit) {
  DrainPace pace(true, kStart);
  EXPECT_EQ(pace.period(), Ms(5));
  for (const int period : {10, 20, 40, 40}) {
    pace.NoteRead(kStart, 32 << 10);
    EXPECT_EQ(pace.period(), Ms(period));
  }
}

TEST(DrainPaceTest, MuchIsDrainedAtOnce) {
  DrainPace pace(true, kStart);
  for (int i = 0; i < 5; ++i) pace.NoteRead(kStart, 0);
  pace.NoteRead(kSettled - 1, (32 << 10) + 1);
  EXPECT_EQ(pace.period(), Ms(5));
}

TEST(DrainPaceTest, LaterThePeriodIsLongerAndMuchIsMore) {
  DrainPace pace(true, kStart);
  for (const int period : {10, 20, 40, 80, 160, 160}) {
    pace.NoteRead(kSettled, 128 << 10);
    EXPECT_EQ(pace.period(), Ms(period));
  }
  for (const int period : {80, 40, 20, 10, 5, 5}) {
    pace.NoteRead(kSettled, (128 << 10) + 1);
    EXPECT_EQ(pace.period(), Ms(period));
  }
}

TEST(DrainPaceTest, WhereCapturesCannotBeDeferredItStaysAsItBegan) {
  DrainPace pace(false, kStart);
  for (int i = 0; i < 10; ++i) pace.NoteRead(kSettled, 0);
  EXPECT_EQ(pace.period(), Ms(40));
  pace.NoteRead(kSettled, (32 << 10) + 1);
  EXPECT_EQ(pace.period(), Ms(5));
}

TEST(DrainPaceTest, NewsShortenALongPeriodOnly) {
  DrainPace pace(true, kStart);
  pace.Hurry();
  EXPECT_EQ(pace.period(), Ms(5));
  for (int i = 0; i < 10; ++i) pace.NoteRead(kSettled, 0);
  pace.Hurry();
  EXPECT_EQ(pace.period(), Ms(20));
}

}  // namespace
}  // namespace offcpu

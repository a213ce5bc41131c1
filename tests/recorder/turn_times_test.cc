#include "recorder/turn_times.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(TurnTimesTest, WhatAllTurnsTakeIsNotCounted) {
  TurnTimes times;
  EXPECT_EQ(times.beyond_ns(), 0u);
  times.Add(10);
  times.Add(10);
  EXPECT_EQ(times.beyond_ns(), 0u);
  times.Add(25);
  EXPECT_EQ(times.beyond_ns(), 15u);
  times.Add(4);
  times.Add(10);
  EXPECT_EQ(times.beyond_ns(), 21u) << "6 beyond the 4";
}

TEST(TurnTimesTest, TheThreadTakesMoreThanItsTurns) {
  TurnTimes times;
  times.Add(10);
  times.SetAll(70);
  times.SetAll(90);
  EXPECT_EQ(times.all_ns(), 90u);
  EXPECT_EQ(times.beyond_ns(), 0u);
}

}  // namespace
}  // namespace offcpu

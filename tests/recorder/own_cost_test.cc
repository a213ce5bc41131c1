#include "recorder/own_cost.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

constexpr CostReading kBefore = {.at_ns = 1,
                                 .process_ns = 100,
                                 .threads_ns = 90,
                                 .capture_ns = 50,
                                 .captures = 1,
                                 .switches = 1000,
                                 .drawn = 10,
                                 .not_drawn = 20,
                                 .samples = 3};

uint64_t ProgramsNs(const CostReading& now, bool wakers = false) {
  return CostBetween(kBefore, now, wakers).programs_ns;
}

TEST(OwnCostTest, OfNothingIsNothing) { EXPECT_EQ(CostBetween(kBefore, kBefore, true).recording_ns(), 0u); }

TEST(OwnCostTest, CapturesAndTheProcessAreWhatIsMeasured) {
  CostReading now = kBefore;
  now.process_ns += 7;
  now.threads_ns += 5;
  now.capture_ns += 9;
  now.request_ns += 20;
  const OwnCost cost = CostBetween(kBefore, now, false);
  EXPECT_EQ(cost.process_ns, 7u);
  EXPECT_EQ(cost.captures_ns, 29u);
  EXPECT_EQ(cost.recording_ns(), 34u);
}

// Of 100 switches, as its constants were measured: `offcpu record`, with --wakers, and with --sample 0.
TEST(OwnCostTest, ProgramsCostWhatTheBenchMeasures) {
  CostReading now = kBefore;
  now.switches += 100;
  now.not_drawn += 100;
  EXPECT_EQ(ProgramsNs(now), 32'300u);
  EXPECT_EQ(ProgramsNs(now, true), 208'100u);
  now.not_drawn = kBefore.not_drawn;
  now.drawn += 100;
  EXPECT_EQ(ProgramsNs(now), 76'600u);
}

TEST(OwnCostTest, SwitchesOfOtherThreadsAndSamplesCostToo) {
  CostReading others = kBefore;
  others.switches += 100;
  EXPECT_GT(ProgramsNs(others), 0u);
  EXPECT_LE(ProgramsNs(others), 32'300u);
  CostReading sampled = kBefore;
  sampled.samples += 1;
  EXPECT_GT(ProgramsNs(sampled), 0u);
}

TEST(OwnCostTest, WhatTheKernelHasMeasuredAllTheTimeIsTaken) {
  CostReading now = kBefore;
  now.switches += 100;
  now.not_drawn += 100;
  now.run_ns += 12'345;
  now.runs += 90;
  EXPECT_EQ(ProgramsNs(now), 12'345u);
  now.runs -= 1;
  EXPECT_EQ(ProgramsNs(now), 32'300u) << "it was switched on in between";
}

// Where captures are made at once, the kernel's measure has them in it.
TEST(OwnCostTest, NoCaptureIsCountedTwice) {
  CostReading now = kBefore;
  now.switches += 1;
  now.runs += 1;
  now.run_ns += 1000;
  now.captures += 4;
  now.capture_ns += 800;
  now.captures_at_once += 3;
  EXPECT_EQ(ProgramsNs(now), 400u);
  EXPECT_EQ(CostBetween(kBefore, now, false).recording_ns(), 1200u);
}

TEST(OwnCostTest, SwitchesThatAreNotKnownAreNone) {
  CostReading unknown = kBefore;
  unknown.switches = 0;
  EXPECT_EQ(CostBetween(kBefore, unknown, false).recording_ns(), 0u);
  EXPECT_EQ(CostBetween(unknown, kBefore, false).recording_ns(), 0u);
}

TEST(OwnCostTest, IsAddedByPart) {
  OwnCost sum = {.programs_ns = 1, .captures_ns = 2, .process_ns = 3, .threads_ns = 4};
  AddCost({.programs_ns = 10, .captures_ns = 20, .process_ns = 30, .threads_ns = 40}, sum);
  EXPECT_EQ(sum.programs_ns, 11u);
  EXPECT_EQ(sum.captures_ns, 22u);
  EXPECT_EQ(sum.process_ns, 33u);
  EXPECT_EQ(sum.threads_ns, 44u);
}

}  // namespace
}  // namespace offcpu

#include "recorder/own_cost.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

const CostReading kBefore = {.at_ns = 1,
                             .process_ns = 100,
                             .threads_ns = 90,
                             .events_ns = 80,
                             .capture_ns = 50,
                             .captures = 1,
                             .switches = 1000,
                             .samples = 3,
                             .times = {.all_ns = 500, .recorded_ns = 300, .waits = 7},
                             .users = {{.waits = 5, .captures = 1}, {.waits = 6, .captures = 0}}};

uint64_t ProgramsNs(const CostReading& now) { return CostBetween(kBefore, now).programs_ns; }

TEST(OwnCostTest, OfNothingIsNothing) { EXPECT_EQ(CostBetween(kBefore, kBefore).recording_ns(), 0u); }

TEST(OwnCostTest, CapturesAndTheProcessAreWhatIsMeasured) {
  CostReading now = kBefore;
  now.process_ns += 7;
  now.threads_ns += 5;
  now.capture_ns += 9;
  now.request_ns += 20;
  const OwnCost cost = CostBetween(kBefore, now);
  EXPECT_EQ(cost.process_ns, 7u);
  EXPECT_EQ(cost.captures_ns, 29u);
  EXPECT_EQ(cost.recording_ns(), 34u);
}

TEST(OwnCostTest, ProgramsCostWhatTheyHaveTimed) {
  CostReading now = kBefore;
  now.switches += 100;
  now.times.all_ns += 4000;
  EXPECT_EQ(ProgramsNs(now), 4000u);
}

// Samples are not timed: each takes what a wait takes, here 1000 ns.
TEST(OwnCostTest, SamplesCostWhatWaitsCost) {
  CostReading now = kBefore;
  now.times.all_ns += 9000;
  now.times.recorded_ns += 4000;
  now.times.waits += 4;
  now.samples += 2;
  EXPECT_EQ(ProgramsNs(now), 11'000u);
}

TEST(OwnCostTest, WhatTheKernelHasMeasuredAllTheTimeIsTaken) {
  CostReading now = kBefore;
  now.switches += 100;
  now.times.all_ns += 4000;
  now.run_ns += 12'345;
  now.runs += 90;
  EXPECT_EQ(ProgramsNs(now), 12'345u);
  now.runs -= 1;
  EXPECT_EQ(ProgramsNs(now), 4000u) << "it was switched on in between";
}

// Captures that are made at once are in both measures.
TEST(OwnCostTest, NoCaptureIsCountedTwice) {
  CostReading now = kBefore;
  now.switches += 1;
  now.runs += 1;
  now.run_ns += 1000;
  now.captures += 4;
  now.capture_ns += 800;
  now.captures_at_once += 3;
  EXPECT_EQ(ProgramsNs(now), 400u);
  EXPECT_EQ(CostBetween(kBefore, now).recording_ns(), 1200u);
  now.runs = 0;
  now.times.all_ns += 700;
  EXPECT_EQ(ProgramsNs(now), 100u);
}

TEST(OwnCostTest, SwitchesThatAreNotKnownAreNone) {
  CostReading unknown = kBefore;
  unknown.switches = 0;
  EXPECT_EQ(CostBetween(kBefore, unknown).recording_ns(), 0u);
  EXPECT_EQ(CostBetween(unknown, kBefore).recording_ns(), 0u);
}

TEST(OwnCostTest, OfWaitsIsWhatDependsOnHowManyAreRecorded) {
  CostReading now = kBefore;
  now.process_ns += 900'000'000;
  now.threads_ns += 800'000'000;
  now.events_ns += 3'000'000;
  now.times.all_ns += 700'000'000;
  now.times.recorded_ns += 5'000'000;
  now.capture_ns += 1'000'000;
  now.request_ns += 500'000;
  const WaitCosts costs = WaitCostsBetween(kBefore, now);
  EXPECT_DOUBLE_EQ(costs.programs, 0.005);
  EXPECT_DOUBLE_EQ(costs.captures, 0.0015);
  EXPECT_DOUBLE_EQ(costs.worker, 0.003);
}

TEST(OwnCostTest, UsersHaveWhatWasRecordedOfThem) {
  CostReading now = kBefore;
  now.users = {{.waits = 9, .captures = 1}, {.waits = 6, .captures = 8, .left_out = 2, .lifecycles = 3}};
  const std::vector<UserWaits> users = UsersBetween(kBefore, now);
  ASSERT_EQ(users.size(), 2u);
  EXPECT_EQ(users[0].waits, 4u);
  EXPECT_EQ(users[0].captures, 0u);
  EXPECT_EQ(users[1].waits, 0u);
  EXPECT_EQ(users[1].captures, 8u);
  EXPECT_EQ(users[1].left_out, 2u);
  EXPECT_EQ(users[1].lifecycles, 3u);
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

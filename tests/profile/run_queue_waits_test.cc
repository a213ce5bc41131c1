#include "profile/run_queue_waits.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;

RowSums Whole(uint64_t runnable_ns) { return RowSums::OfWait(0, runnable_ns, 0, 0); }

// As Prometheus has it: a bucket's bound is in it.
TEST(RunQueueWaitsTest, ABoundIsTheLastOfItsBucket) {
  RunQueueWaits waits;
  for (const uint64_t ns : {0u, 10'000u, 10'001u, 50'000u, 500'000'000u, 500'000'001u, 4'000'000'000u})
    waits.Add(ns, Whole(ns));
  EXPECT_THAT(waits.counts, ElementsAre(2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2));
  EXPECT_EQ(waits.ns, 5'000'070'002u);
}

// A wait of 2 ms of which the last half was for a CPU, sampled from those below 8 ms: with a chance of a quarter.
TEST(RunQueueWaitsTest, WhatWasSampledCountsAsWhatItStandsFor) {
  RunQueueWaits waits;
  waits.Add(1'000'000, RowSums::OfWait(1'000'000, 1'000'000, 0, 8'000'000));
  EXPECT_THAT(waits.counts, ElementsAre(0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(waits.ns, 4'000'000u);
}

TEST(RunQueueWaitsTest, WindowsAddUp) {
  RunQueueWaits a;
  RunQueueWaits b;
  a.Add(20'000, Whole(20'000));
  b.Add(20'000, Whole(20'000));
  b.Add(70'000, Whole(70'000));
  a.Add(b);
  EXPECT_THAT(a.counts, ElementsAre(0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(a.ns, 110'000u);
}

}  // namespace
}  // namespace offcpu

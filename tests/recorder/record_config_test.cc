#include "recorder/record_config.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

struct Rings {
  uint32_t interval_bytes;
  uint32_t capture_bytes;
};

Rings RingsFor(uint32_t cpus) {
  static RecordConfig config;
  config.interval_ring_bytes = config.capture_ring_bytes = 32u << 20;
  FitRings(cpus, config);
  return {.interval_bytes = config.interval_ring_bytes, .capture_bytes = config.capture_ring_bytes};
}

TEST(FitRingsTest, FollowTheCpusAsFarAsTheyAreAsLargeAsAllowed) {
  EXPECT_EQ(RingsFor(2).interval_bytes, 16'777'216u) << "8 MiB for each CPU";
  EXPECT_EQ(RingsFor(2).capture_bytes, 8'388'608u)
      << "what may be captured in a quarter of a second: 4 MiB for each CPU";
  EXPECT_EQ(RingsFor(4).interval_bytes, 33'554'432u);
  EXPECT_EQ(RingsFor(4).capture_bytes, 16'777'216u);
  EXPECT_EQ(RingsFor(1024).interval_bytes, 33'554'432u) << "32 MiB at most";
  EXPECT_EQ(RingsFor(1024).capture_bytes, 33'554'432u);
}

TEST(FitRingsTest, WhatIsSmallerStays) {
  RecordConfig config;
  config.interval_ring_bytes = 4096;
  config.capture_ring_bytes = 8192;
  FitRings(2, config);
  EXPECT_EQ(config.interval_ring_bytes, 4096u);
  EXPECT_EQ(config.capture_ring_bytes, 8192u);
}

}  // namespace
}  // namespace offcpu

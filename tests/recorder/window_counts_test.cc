#include "recorder/window_counts.h"

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(WindowCountsTest, EachWindowHasItsOwn) {
  WindowCounts counts({.unreadable = 4}, 0);
  Counters counters = {};
  counters[WIRE_COUNT_INTERVAL_RING_FULL] = {.count = 3, .ns = 40};
  counters[WIRE_COUNT_NOT_SAMPLED].count = 10;
  counters[WIRE_COUNT_USER_WALK_NO_ROW].count = 7;
  counters[WIRE_COUNT_CAPTURE_LONGEST].ns = 500;
  std::vector<Loss> losses = counts.Losses(counters, {}, {.unreadable = 4});
  ASSERT_EQ(losses.size(), 1u) << "the modules had counted theirs before";
  EXPECT_EQ(losses[0].reason, "interval ring full");
  ProfileStats stats;
  counts.Tell(stats);
  EXPECT_EQ(stats.not_sampled, 10u);
  EXPECT_EQ(stats.walk_misses[2], 7u);
  EXPECT_EQ(stats.capture_longest_ns, 500u);

  counters[WIRE_COUNT_INTERVAL_RING_FULL] = {.count = 5, .ns = 41};
  counters[WIRE_COUNT_NOT_SAMPLED].count = 11;
  counters[WIRE_COUNT_USER_WALK_NO_ROW].count = 7;
  losses = counts.Losses(counters, {.captures_dropped = 2}, {.unreadable = 6});
  ASSERT_EQ(losses.size(), 3u);
  EXPECT_EQ(losses[0].count, 2u);
  EXPECT_EQ(losses[0].ns, 1u);
  EXPECT_EQ(losses[1].count, 2u);
  EXPECT_EQ(losses[2].count, 2u);
  counts.Tell(stats);
  EXPECT_EQ(stats.not_sampled, 1u);
  EXPECT_EQ(stats.walk_misses[2], 0u);
  EXPECT_EQ(stats.capture_longest_ns, 500u) << "since the recording began";
}

}  // namespace
}  // namespace offcpu

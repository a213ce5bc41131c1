#include "capture/counters.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(Counters, NothingLostIsNoDrop) { EXPECT_TRUE(NameCounters({}).empty()); }

// A counter without a name would be a loss that nobody is told of. These tell how things were done, not what was lost.
TEST(Counters, EveryCounterOfALossHasANameOfItsOwn) {
  const std::set<uint32_t> not_losses = {
      WIRE_COUNT_TASK_WORK,    WIRE_COUNT_TASK_WORK_REFUSED, WIRE_COUNT_COPIED_AT_ONCE,  WIRE_COUNT_NOT_DRAWN,
      WIRE_COUNT_SAMPLE,       WIRE_COUNT_CAPTURE_TIME,      WIRE_COUNT_CAPTURE_LONGEST, WIRE_COUNT_PAGE_FAULTED_IN,
      WIRE_COUNT_KERNEL_WALKED};
  std::set<std::string> names;
  for (uint32_t id = 0; id < WIRE_COUNTERS; ++id) {
    Counters counters = {};
    counters[id] = {.count = 3, .ns = 4};
    const std::vector<Drop> drops = NameCounters(counters);
    if (not_losses.contains(id)) {
      EXPECT_TRUE(drops.empty()) << id;
      continue;
    }
    ASSERT_EQ(drops.size(), 1u) << id;
    EXPECT_EQ(drops[0].count, 3u);
    EXPECT_EQ(drops[0].ns, 4u);
    EXPECT_TRUE(names.insert(drops[0].reason).second) << drops[0].reason;
  }
}

TEST(Counters, WhatIsFilteredIsNotLost) {
  Counters counters = {};
  counters[WIRE_COUNT_BELOW_MIN_WAIT].count = 100;
  EXPECT_EQ(CountLost(counters), 0u);
  counters[WIRE_COUNT_INTERVAL_RING_FULL].count = 7;
  EXPECT_EQ(CountLost(counters), 7u);
}

}  // namespace
}  // namespace offcpu

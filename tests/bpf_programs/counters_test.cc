#include "bpf_programs/counters.h"

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(Counters, NothingLostIsNoLoss) { EXPECT_TRUE(NameCounters({}).empty()); }

// A counter without a name would be a loss that no report shows. These tell how things were done, not what was lost.
TEST(Counters, EveryCounterOfALossHasANameOfItsOwn) {
  const std::set<uint32_t> not_losses = {WIRE_COUNT_TASK_WORK,
                                         WIRE_COUNT_TASK_WORK_REFUSED,
                                         WIRE_COUNT_COPIED_AT_ONCE,
                                         WIRE_COUNT_NOT_SAMPLED,
                                         WIRE_COUNT_SAMPLE,
                                         WIRE_COUNT_CAPTURE_TIME,
                                         WIRE_COUNT_CAPTURE_LONGEST,
                                         WIRE_COUNT_PAGE_FAULTED_IN,
                                         WIRE_COUNT_KERNEL_WALKED,
                                         WIRE_COUNT_USER_WALKED,
                                         WIRE_COUNT_USER_WALK_UNKNOWN,
                                         WIRE_COUNT_USER_WALK_NO_CODE,
                                         WIRE_COUNT_USER_WALK_NO_ROW,
                                         WIRE_COUNT_USER_WALK_NO_MEMORY,
                                         WIRE_COUNT_ACCOUNT_MADE,
                                         WIRE_COUNT_ACCOUNT_SETTLED};
  std::set<std::string> names;
  for (uint32_t id = 0; id < WIRE_COUNTERS; ++id) {
    Counters counters = {};
    counters[id] = {.count = 3, .ns = 4};
    const std::vector<Loss> losses = NameCounters(counters);
    if (not_losses.contains(id)) {
      EXPECT_TRUE(losses.empty()) << id;
      continue;
    }
    ASSERT_EQ(losses.size(), 1u) << id;
    EXPECT_EQ(losses[0].count, 3u);
    EXPECT_EQ(losses[0].ns, 4u);
    EXPECT_TRUE(names.insert(losses[0].reason).second) << losses[0].reason;
  }
}

TEST(Counters, WhatIsFilteredIsNotLost) {
  Counters counters = {};
  counters[WIRE_COUNT_BELOW_MIN_WAIT].count = 100;
  EXPECT_EQ(CountLost(counters), 0u);
  counters[WIRE_COUNT_INTERVAL_RING_FULL].count = 7;
  EXPECT_EQ(CountLost(counters), 7u);
}

TEST(Counters, WhatIsRaisedNeverFalls) {
  std::atomic<uint64_t> most = 5;
  EXPECT_EQ(RaiseTo(3, most), 5u);
  EXPECT_EQ(RaiseTo(7, most), 7u);
  EXPECT_EQ(most, 7u);
}

TEST(Counters, WhatTwoThreadsRaiseNeverFalls) {
  constexpr uint64_t kMost = 20'000'000;
  std::atomic<uint64_t> most = 0;
  const auto raise = [&most](uint64_t from) {
    uint64_t seen = 0;
    bool falls = false;
    for (uint64_t value = from; value <= kMost; value += 2) {
      const uint64_t now = RaiseTo(value, most);
      falls = falls || now < seen || most.load() < value;
      seen = now;
    }
    EXPECT_FALSE(falls);
  };
  std::thread other(raise, 1);
  raise(2);
  other.join();
  EXPECT_EQ(most, kMost);
}

}  // namespace
}  // namespace offcpu

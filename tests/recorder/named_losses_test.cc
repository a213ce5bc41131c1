#include "recorder/named_losses.h"

#include <string>

#include "gtest/gtest.h"

namespace offcpu {
namespace {

TEST(Losses, NothingLostIsNoLoss) { EXPECT_TRUE(NameLosses({}, {}, {}).empty()); }

TEST(Losses, CountersComeFirst) {
  Counters counters = {};
  counters[WIRE_COUNT_INTERVAL_RING_FULL] = {.count = 3, .ns = 4};
  const std::vector<Loss> losses = NameLosses(counters, {.captures_dropped = 1}, {});
  ASSERT_EQ(losses.size(), 2u);
  EXPECT_EQ(losses[0].reason, "interval ring full");
  EXPECT_EQ(losses[0].count, 3u);
  EXPECT_EQ(losses[0].ns, 4u);
}

TEST(Losses, OfTheQueueAndTheModules) {
  const EventQueueStats queue = {
      .intervals_dropped = 1, .interval_ns_dropped = 2, .captures_dropped = 3, .samples_dropped = 5};
  const std::vector<Loss> losses = NameLosses({}, queue, {.too_large = 3, .unreadable = 4});
  ASSERT_EQ(losses.size(), 5u);
  EXPECT_EQ(losses[0].reason, "queue full: intervals");
  EXPECT_EQ(losses[0].ns, 2u);
  EXPECT_EQ(losses[1].count, 3u);
  EXPECT_EQ(losses[2].reason, "queue full: on-CPU samples");
  EXPECT_EQ(losses[2].count, 5u);
  EXPECT_EQ(losses[3].reason, "module unreadable");
  EXPECT_EQ(losses[3].count, 4u);
  EXPECT_EQ(losses[4].reason, "unwind table too large");
  EXPECT_EQ(losses[4].count, 3u);
}

TEST(Losses, ProcessesWithAnUnknownRuntimeAreCounted) {
  const std::vector<Loss> losses = NameLosses({}, {}, {.unknown_runtimes = 2});
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].reason, "language runtime of an unknown version");
  EXPECT_EQ(losses[0].count, 2u);
}

TEST(Losses, RefusedPerfMapsSayWhy) {
  ModuleCacheStats modules;
  modules.files_refused[static_cast<size_t>(FileRefusal::kNotReadable)] = 7;
  const std::vector<Loss> losses = NameLosses({}, {}, modules);
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].reason, "perf map refused: not readable by the process");
  EXPECT_EQ(losses[0].count, 7u);
}

}  // namespace
}  // namespace offcpu

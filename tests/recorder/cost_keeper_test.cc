#include "recorder/cost_keeper.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kMs = 1'000'000;

class CostKeeperTest : public ::testing::Test {
 protected:
  // 2 CPUs, a budget of 1 %: 20 ms in a second. Three users.
  CostKeeper Keeper(bool adapts_sample = true) {
    return CostKeeper({.budget_ppm = 10'000, .cpus = 2, .adapts_sample = adapts_sample}, now_);
  }

  // Half a second goes by in which recording the second user's waits has cost so much.
  void Pass(CostKeeper& keeper, uint64_t recorded_ns, int times = 1) {
    for (int i = 0; i < times; ++i) {
      now_.at_ns += kSecond / 2;
      now_.times.all_ns += recorded_ns;
      now_.times.recorded_ns += recorded_ns;
      now_.users[1].waits += 1000;
      if (keeper.IsDue(now_.at_ns) && keeper.Update(now_)) set_.push_back(keeper.thresholds_ns());
    }
  }

  CostReading now_ = {.at_ns = 7 * kSecond,
                      .process_ns = 99 * kSecond,
                      .capture_ns = 11,
                      .users = std::vector<UserWaits>(3),
                      .resident_bytes = 5000};
  std::vector<std::vector<uint64_t>> set_;  // thresholds of users
};

TEST_F(CostKeeperTest, SamplesWaitsOfTheUserWhoCostsTooMuch) {
  CostKeeper keeper = Keeper();
  Pass(keeper, 80 * kMs, 2);
  EXPECT_THAT(set_, IsEmpty()) << "the first second is not judged";
  EXPECT_EQ(keeper.threshold_ns(), 0u);
  Pass(keeper, 40 * kMs);
  EXPECT_THAT(set_, ElementsAre(ElementsAre(0, 40'000, 0))) << "four times the budget";
  EXPECT_EQ(keeper.threshold_ns(), 40'000u);
  Pass(keeper, 20 * kMs);
  EXPECT_EQ(keeper.threshold_ns(), 80'000u);
  Pass(keeper, 0, 5);
  EXPECT_EQ(keeper.threshold_ns(), 0u);
  EXPECT_THAT(set_, SizeIs(7));
}

TEST_F(CostKeeperTest, RecordsAllWithinTheBudget) {
  CostKeeper keeper = Keeper();
  Pass(keeper, 9'900'000, 100);
  EXPECT_THAT(set_, IsEmpty());
}

// What each switch takes, and what readers of profiles do, is reported and lowers nothing.
TEST_F(CostKeeperTest, FixedCostsLowerNothing) {
  CostKeeper keeper = Keeper();
  for (int i = 0; i < 20; ++i) {
    now_.process_ns += 400 * kMs;
    now_.threads_ns += 400 * kMs;
    now_.times.all_ns += 400 * kMs;
    Pass(keeper, 5 * kMs);
  }
  EXPECT_THAT(set_, IsEmpty());
  ProfileStats stats;
  keeper.Tell(now_, stats);
  EXPECT_EQ(stats.own_process_ns, 20 * 400 * kMs);
  EXPECT_EQ(stats.own_programs_ns, 20 * 405 * kMs);
}

TEST_F(CostKeeperTest, UpdatesEverySecondLater) {
  CostKeeper keeper = Keeper();
  Pass(keeper, 0, 21);
  Pass(keeper, 500 * kMs);
  EXPECT_THAT(set_, IsEmpty()) << "half a second since the last update";
  Pass(keeper, 500 * kMs);
  EXPECT_THAT(set_, SizeIs(1));
}

TEST_F(CostKeeperTest, FixedSampleIsNotTouched) {
  CostKeeper keeper = Keeper(false);
  Pass(keeper, 400 * kMs, 60);
  EXPECT_THAT(set_, IsEmpty());
  ProfileStats stats = {.sample_most_ns = 5};
  keeper.Tell(now_, stats);
  EXPECT_EQ(stats.own_programs_ns, 60 * 400 * kMs);
  EXPECT_EQ(stats.cpu_budget_ppm, 0u);
  EXPECT_EQ(stats.sample_most_ns, 5u);
}

TEST_F(CostKeeperTest, TellsEachWindowItsOwn) {
  CostKeeper keeper = Keeper();
  Pass(keeper, 40 * kMs, 3);  // an update in between takes nothing away
  now_.capture_ns += 70;
  now_.process_ns += 9;
  ProfileStats first;
  keeper.Tell(now_, first);
  EXPECT_EQ(first.own_programs_ns, 120 * kMs);
  EXPECT_EQ(first.own_process_ns, 9u);
  EXPECT_EQ(first.capture_ns, 70u);
  EXPECT_EQ(first.own_memory_bytes, 5000u);
  EXPECT_EQ(first.host_cpu_ns, 3 * kSecond);
  EXPECT_EQ(first.cpu_budget_ppm, 10'000u);
  EXPECT_EQ(first.sample_most_ns, 40'000u);
  Pass(keeper, 0, 10);
  ProfileStats second;
  keeper.Tell(now_, second);
  EXPECT_EQ(second.own_programs_ns, 0u);
  EXPECT_EQ(second.host_cpu_ns, 10 * kSecond);
  EXPECT_EQ(second.sample_most_ns, 40'000u) << "with which it began";
  keeper.Tell(now_, second = {});
  EXPECT_EQ(second.sample_most_ns, 0u);
}

}  // namespace
}  // namespace offcpu

#include "recorder/cost_keeper.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kSecond = 1'000'000'000;

class CostKeeperTest : public ::testing::Test {
 protected:
  // 2 CPUs, 200 draws a second on each, a budget of 1 %: 20 ms in a second.
  CostKeeper Keeper(uint32_t draws_per_second = 400) {
    return CostKeeper(
        {.budget_ppm = 10'000, .cpus = 2, .draws_per_second = draws_per_second},
        {.read = [this] { return now_; }, .set_draws = [this](uint32_t draws) { set_.push_back(draws); }});
  }

  // A second goes by in which the threads that record use so much, and all others of the host `others_ns_`.
  void Pass(CostKeeper& keeper, uint64_t threads_ns) {
    now_.at_ns += kSecond;
    now_.busy_ns += threads_ns + others_ns_;
    now_.process_ns += threads_ns;
    now_.threads_ns += threads_ns;
    keeper.Tick(now_.at_ns);
  }
  void Pass(CostKeeper& keeper, uint64_t threads_ns, int seconds) {
    for (int i = 0; i < seconds; ++i) Pass(keeper, threads_ns);
  }

  CostReading now_ = {.at_ns = 7 * kSecond,
                      .process_ns = 99 * kSecond,
                      .capture_ns = 11,
                      .busy_ns = 88 * kSecond,
                      .resident_bytes = 5000};
  uint64_t others_ns_ = 2 * kSecond;  // a saturated host
  std::vector<uint32_t> set_;         // draws of all CPUs
};

TEST_F(CostKeeperTest, LowersDrawsEverySecondAndLaterEveryFiveButNotAtFirst) {
  CostKeeper keeper = Keeper();
  EXPECT_EQ(keeper.draws_per_cpu(), 200u);
  Pass(keeper, 400'000'000);
  EXPECT_THAT(set_, ElementsAre(400u)) << "it begins with as many";
  Pass(keeper, 400'000'000);
  EXPECT_THAT(set_, ElementsAre(400u, 200u));
  EXPECT_EQ(keeper.draws_per_cpu(), 100u);
  EXPECT_EQ(keeper.draws_per_cpu_most(), 200u);
  Pass(keeper, 400'000'000);
  EXPECT_THAT(set_, ElementsAre(400u, 200u, 100u));
  Pass(keeper, 19'000'000, 12);
  Pass(keeper, 400'000'000, 4);
  EXPECT_THAT(set_, ElementsAre(400u, 200u, 100u)) << "the fifteenth second is over";
  Pass(keeper, 400'000'000);
  EXPECT_THAT(set_, ElementsAre(400u, 200u, 100u, 50u));
}

TEST_F(CostKeeperTest, BeginsWithFewerThanTheMostAndThatIsNotLowered) {
  CostKeeper keeper = Keeper(2000);
  EXPECT_THAT(set_, ElementsAre(500u));
  EXPECT_EQ(keeper.draws_per_cpu_most(), 1000u);
  Pass(keeper, 0, 3);
  EXPECT_THAT(set_, ElementsAre(500u, 626u, 782u));
  ProfileStats stats;
  keeper.Tell(stats);
  EXPECT_EQ(stats.draws_lowered_to, 0u);
}

TEST_F(CostKeeperTest, RaisesThemAgain) {
  CostKeeper keeper = Keeper();
  Pass(keeper, 400'000'000, 2);
  Pass(keeper, 0, 4);
  EXPECT_THAT(set_, ElementsAre(400u, 200u, 250u, 312u, 390u, 400u));
}

TEST_F(CostKeeperTest, LeavesThemWithinTheBudget) {
  CostKeeper keeper = Keeper();
  Pass(keeper, 19'000'000, 60);
  EXPECT_THAT(set_, ElementsAre(400u));
}

// 5 ms a second are a quarter of 1 % of two CPUs, and 1.25 % of what a fifth of them does.
TEST_F(CostKeeperTest, AfterFiveSecondsCostsAPartOfWhatTheHostDoes) {
  others_ns_ = 395'000'000;
  CostKeeper keeper = Keeper();
  Pass(keeper, 5'000'000, 4);
  EXPECT_THAT(set_, ElementsAre(400u)) << "at first, of all CPUs";
  Pass(keeper, 5'000'000);
  EXPECT_THAT(set_, ElementsAre(400u, 320u));
}

TEST_F(CostKeeperTest, OfAnIdleHostATenthCountsAsBusy) {
  others_ns_ = 0;
  CostKeeper keeper = Keeper();
  Pass(keeper, 2'000'000, 20);
  EXPECT_THAT(set_, ElementsAre(400u)) << "1 % of a tenth of two CPUs";
  Pass(keeper, 2'500'000, 5);
  EXPECT_THAT(set_, ElementsAre(400u, 320u));
}

TEST_F(CostKeeperTest, WhereItIsNotKnownWhatTheHostDoesAllCpusCount) {
  CostKeeper keeper = Keeper();
  for (int i = 0; i < 20; ++i) {
    now_.busy_ns = 0;
    others_ns_ = 0;
    now_.at_ns += kSecond;
    now_.threads_ns += 19'000'000;
    keeper.Tick(now_.at_ns);
  }
  EXPECT_THAT(set_, ElementsAre(400u));
}

TEST_F(CostKeeperTest, LeavesThemWhateverReadersOfProfilesTake) {
  CostKeeper keeper = Keeper();
  for (int i = 0; i < 60; ++i) {
    now_.process_ns += 400'000'000;
    Pass(keeper, 19'000'000);
  }
  EXPECT_THAT(set_, ElementsAre(400u));
  ProfileStats stats;
  keeper.Tell(stats);
  EXPECT_EQ(stats.own_process_ns, 60 * uint64_t{419'000'000}) << "it is told";
}

TEST_F(CostKeeperTest, AFixedSampleIsNotTouched) {
  CostKeeper keeper = Keeper(0);
  Pass(keeper, 400'000'000, 60);
  EXPECT_THAT(set_, IsEmpty());
  EXPECT_EQ(keeper.draws_per_cpu(), 0u);
  ProfileStats stats;
  keeper.Tell(stats);
  EXPECT_EQ(stats.own_process_ns, 24 * kSecond);
  EXPECT_EQ(stats.budgeted_cpu_ns, 0u);
  EXPECT_EQ(stats.cpu_budget_ppm, 0u);
  EXPECT_EQ(stats.draws_lowered_to, 0u);
}

TEST_F(CostKeeperTest, TellsWhatTheBudgetIsAPartOf) {
  others_ns_ = 400'000'000;
  CostKeeper keeper = Keeper();
  Pass(keeper, 0, 7);
  ProfileStats stats;
  keeper.Tell(stats);
  EXPECT_EQ(stats.budgeted_cpu_ns, 4 * 2 * kSecond + 3 * uint64_t{400'000'000}) << "four seconds of all CPUs";
  others_ns_ = 0;
  Pass(keeper, 0, 10);
  keeper.Tell(stats);
  EXPECT_EQ(stats.budgeted_cpu_ns, 10 * 2 * kSecond / 10) << "the least";
}

TEST_F(CostKeeperTest, TellsEachWindowItsOwn) {
  CostKeeper keeper = Keeper();
  Pass(keeper, 400'000'000, 2);  // a look in between takes nothing away
  now_.capture_ns += 70;
  now_.not_drawn += 10;
  ProfileStats first;
  keeper.Tell(first);
  EXPECT_EQ(first.own_process_ns, 2 * uint64_t{400'000'000});
  EXPECT_EQ(first.capture_ns, 70u);
  EXPECT_GT(first.own_programs_ns, 0u);
  EXPECT_EQ(first.own_memory_bytes, 5000u);
  EXPECT_EQ(first.host_cpu_ns, 2 * 2 * kSecond);
  EXPECT_EQ(first.budgeted_cpu_ns, 2 * 2 * kSecond);
  EXPECT_EQ(first.cpu_budget_ppm, 10'000u);
  EXPECT_EQ(first.draws_lowered_to, 100u);
  Pass(keeper, 0);
  ProfileStats second;
  keeper.Tell(second);
  EXPECT_EQ(second.own_process_ns, 0u);
  EXPECT_EQ(second.capture_ns, 0u);
  EXPECT_EQ(second.own_programs_ns, 0u);
  EXPECT_EQ(second.host_cpu_ns, 2 * kSecond);
  EXPECT_EQ(second.draws_lowered_to, 100u) << "still";
  Pass(keeper, 400'000'000, 2);
  Pass(keeper, 0, 40);
  keeper.Tell(second);
  EXPECT_EQ(second.draws_lowered_to, 31u) << "the least there was in it";
  keeper.Tell(second);
  EXPECT_EQ(second.draws_lowered_to, 0u);
}

}  // namespace
}  // namespace offcpu

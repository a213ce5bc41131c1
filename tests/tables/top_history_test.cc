#include "tables/top_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace offcpu {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr uint64_t kSecond = 1'000'000'000;

TopProcess Process(int32_t pid, uint64_t blocked_ns, uint64_t runnable_ns = 0) {
  TopProcess process = {.pid = pid, .name = "p" + std::to_string(pid), .sums = {}};
  process.sums.count = 4;
  process.sums.blocked_ns = blocked_ns;
  process.sums.runnable_ns = runnable_ns;
  return process;
}

TopTable Table(uint64_t duration_ns, std::vector<TopProcess> processes) {
  TopTable table;
  table.duration_ns = duration_ns;
  table.processes = std::move(processes);
  return table;
}

TEST(TopHistoryTest, FiguresArePerSecondAndTheOldestComesFirst) {
  TopHistory history;
  history.Add(Table(kSecond, {Process(1, 600, 400)}));
  history.Add(Table(2 * kSecond, {Process(2, 1), Process(1, 600, 400)}));
  history.Add(Table(kSecond, {}));
  EXPECT_THAT(history.Of(Process(1, 0), RowValue::kOffCpu), ElementsAre(1000, 500, 0));
  EXPECT_THAT(history.Of(Process(1, 0), RowValue::kBlocked), ElementsAre(600, 300, 0));
  EXPECT_THAT(history.Of(Process(1, 0), RowValue::kRunnable), ElementsAre(400, 200, 0));
  EXPECT_THAT(history.Of(Process(1, 0), RowValue::kCount), ElementsAre(4, 2, 0));
  EXPECT_THAT(history.Of(Process(3, 0), RowValue::kOffCpu), ElementsAre(0, 0, 0));
}

// Nothing sampled is not nothing, if the process is one of whose waits only some are sampled, and then.
TEST(TopHistoryTest, NothingSampledIsNotNothing) {
  TopHistory history;
  const auto add = [&history](uint64_t unsampled_most_ns, std::vector<TopProcess> processes) {
    TopTable table = Table(kSecond, std::move(processes));
    table.unsampled_most_ns = unsampled_most_ns;
    history.Add(table);
  };
  TopProcess estimate = Process(1, 1000);
  estimate.sums.ns_variance = 1e4;
  add(0, {Process(2, 7)});
  add(300, {Process(2, 7)});
  add(300, {estimate});
  add(0, {Process(1, 500)});
  EXPECT_THAT(history.Of(Process(1, 0), RowValue::kOffCpu), ElementsAre(0, std::nullopt, 1000, 500));
  EXPECT_THAT(history.Of(Process(2, 0), RowValue::kOffCpu), ElementsAre(7, 7, 0, 0)) << "it is exact";
  EXPECT_THAT(history.Of(Process(3, 0), RowValue::kOffCpu), ElementsAre(0, 0, 0, 0));
  TopProcess now = Process(3, 1);
  now.sums.ns_variance = 1;
  EXPECT_THAT(history.Of(now, RowValue::kOffCpu), ElementsAre(0, std::nullopt, std::nullopt, 0));
}

// A number may be another program's by now.
TEST(TopHistoryTest, AnotherNameIsAnotherProcess) {
  TopHistory history;
  history.Add(Table(kSecond, {Process(1, 600)}));
  TopProcess other = Process(1, 0);
  other.name = "other";
  EXPECT_THAT(history.Of(other, RowValue::kOffCpu), ElementsAre(0));
}

TEST(TopHistoryTest, OnlyTheLastRefreshesAreKept) {
  TopHistory history;
  for (size_t i = 0; i <= TopHistory::kMaxRefreshes; ++i) history.Add(Table(kSecond, {Process(1, i)}));
  const std::vector<std::optional<double>> figures = history.Of(Process(1, 0), RowValue::kBlocked);
  EXPECT_THAT(figures, SizeIs(TopHistory::kMaxRefreshes));
  EXPECT_EQ(figures.front(), 1);
  EXPECT_EQ(figures.back(), TopHistory::kMaxRefreshes);
}

TEST(TopHistoryTest, OfManyProcessesTheFirstAreKept) {
  TopHistory history;
  std::vector<TopProcess> processes;
  for (size_t i = 0; i <= TopHistory::kMaxProcesses; ++i) processes.push_back(Process(static_cast<int32_t>(i), 7));
  history.Add(Table(kSecond, processes));
  EXPECT_THAT(history.Of(processes[TopHistory::kMaxProcesses - 1], RowValue::kBlocked), ElementsAre(7));
  EXPECT_THAT(history.Of(processes.back(), RowValue::kBlocked), ElementsAre(0));
}

}  // namespace
}  // namespace offcpu

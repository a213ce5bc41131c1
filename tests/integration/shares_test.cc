// The shares of the stacks of a busy server, where what is drawn follows the load, are those of an exact recording of
// the same run, within the errors that the profile states.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "recorder/record_config.h"
#include "tests/integration/load.h"

namespace offcpu::integration {
namespace {

constexpr std::chrono::seconds kLength{6};  // draws rise from second to second
constexpr size_t kTop = 50;
// Of fewer draws a standard error is itself too uncertain to be compared with.
constexpr double kLeastDraws = 50;

// More of them, such as 20, with OFFCPU_RUNS.
int Runs() {
  const char* runs = std::getenv("OFFCPU_RUNS");
  return runs == nullptr ? 10 : std::atoi(runs);
}

struct Estimate {
  std::string stack;
  double exact_ns = 0;
  double exact_count = 0;
  double ns = 0;
  double variance = 0;

  // Are many draws to be expected, by the exact recording alone? `bound_ns` is the longest T that there was.
  bool is_often_drawn(double bound_ns) const {
    return exact_ns >= kLeastDraws * bound_ns && exact_ns <= exact_count * bound_ns;
  }
};

// Waits with a whole stack, by that and the name of the thread. Without those for the end of a stop, whose beginnings
// differ.
template <typename Add>
void ForEachStack(const Recording& recording, Add add) {
  const auto rows = recording.Rows([](const StackRow& row) {
    return row.complete() && row.row->kind != WaitKind::kOpen && row.row->kind != WaitKind::kStopped;
  });
  for (const StackRow& row : rows) {
    const std::string text = row.Text();
    add(text.substr(0, text.rfind(" count ")), *row.row);
  }
}

using Estimates = std::map<std::string, Estimate>;

Estimates EstimatesOf(const Recording& sample, const Recording& exact) {
  Estimates estimates;
  ForEachStack(exact, [&](const std::string& stack, const NamedRow& row) {
    estimates[stack].stack = stack;
    estimates[stack].exact_ns += static_cast<double>(row.total_ns());
    estimates[stack].exact_count += static_cast<double>(row.count);
  });
  ForEachStack(sample, [&](const std::string& stack, const NamedRow& row) {
    Estimate& estimate = estimates[stack];
    estimate.ns += static_cast<double>(row.total_ns());
    estimate.variance += row.ns_variance;
  });
  return estimates;
}

std::vector<Estimate> Top(const Estimates& estimates) {
  std::vector<Estimate> top;
  for (const auto& [stack, estimate] : estimates) top.push_back(estimate);
  std::sort(top.begin(), top.end(), [](const Estimate& a, const Estimate& b) { return a.exact_ns > b.exact_ns; });
  top.resize(std::min(top.size(), kTop));
  return top;
}

// The squares of deviations over their variances: 1 on average if the errors are right.
struct Squares {
  double sum = 0;
  double n = 0;
  size_t too_few = 0;  // stacks with few draws
  size_t exact = 0;    // stacks that were drawn whole
};

void AddSquares(const std::vector<Estimate>& top, double bound_ns, Squares& squares) {
  for (const Estimate& estimate : top) {
    if (!estimate.is_often_drawn(bound_ns)) {
      ++squares.too_few;
      continue;
    }
    if (estimate.variance == 0) {  // all its waits are longer than the T of its process
      EXPECT_NEAR(estimate.ns, estimate.exact_ns, 0.01 * estimate.exact_ns) << estimate.stack;
      ++squares.exact;
      continue;
    }
    const double deviation = estimate.ns - estimate.exact_ns;
    squares.sum += deviation * deviation / estimate.variance;
    ++squares.n;
    if (deviation * deviation > 16 * estimate.variance) {
      std::printf("%.6f s, exactly %.6f s, standard error %.6f s: %s\n", estimate.ns / 1e9, estimate.exact_ns / 1e9,
                  std::sqrt(estimate.variance) / 1e9, estimate.stack.c_str());
    }
  }
}

void RunOnce(const PostgresLoad& postgres, Squares& squares) {
  RecordConfig config = Unthrottled(postgres.load().Processes());
  config.follow_forks = true;
  postgres.load().Freeze();  // so that both recordings are of the same waits
  absl::StatusOr<std::unique_ptr<Recorder>> exact = Recorder::Start(config);
  AdaptSample(kDrawsPerCpuOnce, config);
  config.cpu_budget_ppm = 1'000'000;  // errors are judged here, and the more draws, the sharper
  absl::StatusOr<std::unique_ptr<Recorder>> drawn = Recorder::Start(config);
  ASSERT_TRUE(exact.ok() && drawn.ok());
  postgres.load().Thaw();
  std::this_thread::sleep_for(kLength);
  postgres.load().Freeze();
  const Recording sample = MustStop(**drawn);
  const Recording all = MustStop(**exact);
  EXPECT_GT(sample.profile.stats.not_drawn, 1'000u) << "hardly any load: no test";
  EXPECT_EQ(all.profile.stats.not_drawn, 0u);
  AddSquares(Top(EstimatesOf(sample, all)), static_cast<double>(sample.profile.stats.sample_most_ns), squares);
}

TEST(Shares, OfPostgresAreWithinTheirErrors) {
  if (!PostgresLoad::IsInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  const PostgresLoad postgres;
  ASSERT_TRUE(postgres.is_ready());
  Squares squares;
  for (int run = 0; run < Runs(); ++run) RunOnce(postgres, squares);
  std::printf("%.0f stacks, %zu of few draws, %zu drawn whole; chi-square %.1f\n", squares.n, squares.too_few,
              squares.exact, squares.sum);
  ASSERT_GT(squares.n, 10.0) << "hardly anything was compared";
  // Chi-square with n degrees of freedom has the variance 2 n. The errors are estimates, too, from some fifty draws or
  // more, which makes the ends of the distribution a little longer.
  EXPECT_LT(std::abs(squares.sum - squares.n), 5 * std::sqrt(2 * squares.n));
}

}  // namespace
}  // namespace offcpu::integration

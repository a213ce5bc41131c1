// The shares of the stacks of a busy server in a sample are those of an exact recording of the same run, within the
// errors that the profile states.
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
#include "tests/harness/load.h"

namespace offcpu::integration {
namespace {

constexpr std::chrono::seconds kLength{6};
constexpr uint64_t kSampleNs = 2'000'000;  // T; longer than most waits of these servers
constexpr size_t kTop = 50;
// With fewer sampled waits a standard error is itself too uncertain to be compared with.
constexpr double kLeastSampled = 50;

// More of them, such as 20, with OFFCPU_RUNS.
int Runs() {
  const char* runs = std::getenv("OFFCPU_RUNS");
  return runs == nullptr ? 5 : std::atoi(runs);
}

struct Estimate {
  std::string stack;
  double exact_ns = 0;
  double exact_count = 0;
  double ns = 0;
  double variance = 0;

  double deviation() const { return ns - exact_ns; }
  void Add(const Estimate& other) {
    exact_ns += other.exact_ns;
    exact_count += other.exact_count;
    ns += other.ns;
    variance += other.variance;
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

// What was compared.
struct Squares {
  double sum = 0;  // of deviations over their variances: 1 each on average if the errors are right
  double n = 0;    // bundles of stacks
  size_t stacks = 0;
  size_t whole = 0;  // stacks whose waits are mostly longer than T
  uint64_t not_sampled = 0;

  // Chi-square with n degrees of freedom has the variance 2 n. The errors are estimates, too, from some fifty waits or
  // more, which makes the ends of the distribution a little longer.
  bool are_within_errors() const { return std::abs(sum - n) < 5 * std::sqrt(2 * n); }
};

// None of the short waits among them may have been sampled: for waits that come to x times T, with the probability
// e^-x.
void ExpectWhole(const Estimate& estimate) {
  EXPECT_LT(std::abs(estimate.deviation()), 5 * std::sqrt(estimate.variance) + 12 * double{kSampleNs})
      << estimate.stack;
}

void AddSquare(const Estimate& bundle, Squares& squares) {
  if (bundle.variance == 0) return ExpectWhole(bundle);
  const double square = bundle.deviation() * bundle.deviation() / bundle.variance;
  squares.sum += square;
  ++squares.n;
  if (square > 16) {
    std::printf("%.6f s, exactly %.6f s, standard error %.6f s: %s\n", bundle.ns / 1e9, bundle.exact_ns / 1e9,
                std::sqrt(bundle.variance) / 1e9, bundle.stack.c_str());
  }
}

// Stacks of which few waits are to be expected in the sample are taken together, the next ones in the order of their
// time, until there are enough: by the exact recording alone.
void AddSquares(const std::vector<Estimate>& top, Squares& squares) {
  constexpr double kLeastNs = kLeastSampled * double{kSampleNs};
  std::vector<Estimate> bundles(1);
  for (const Estimate& estimate : top) {
    if (estimate.exact_ns > estimate.exact_count * double{kSampleNs}) {
      ExpectWhole(estimate);
      ++squares.whole;
      continue;
    }
    ++squares.stacks;
    if (bundles.back().exact_ns >= kLeastNs) bundles.emplace_back();
    if (bundles.back().stack.empty()) bundles.back().stack = estimate.stack;
    bundles.back().Add(estimate);
  }
  if (bundles.size() > 1 && bundles.back().exact_ns < kLeastNs) {
    const Estimate rest = bundles.back();
    bundles.pop_back();
    bundles.back().Add(rest);
  }
  for (const Estimate& bundle : bundles) {
    if (bundle.exact_ns >= kLeastNs) AddSquare(bundle, squares);
  }
}

void RunOnce(const Load& load, Squares& squares) {
  RecordConfig config = Unthrottled(load.Processes());
  config.follow_forks = true;
  load.Freeze();  // so that both recordings are of the same waits
  absl::StatusOr<std::unique_ptr<Recorder>> exact = Recorder::Start(config);
  config.sample_ns = kSampleNs;
  absl::StatusOr<std::unique_ptr<Recorder>> sampled = Recorder::Start(config);
  ASSERT_TRUE(exact.ok() && sampled.ok());
  load.Thaw();
  std::this_thread::sleep_for(kLength);
  load.Freeze();
  const Recording sample = MustStop(**sampled);
  const Recording all = MustStop(**exact);
  squares.not_sampled += sample.profile.stats.not_sampled;
  EXPECT_EQ(all.profile.stats.not_sampled, 0u);
  AddSquares(Top(EstimatesOf(sample, all)), squares);
}

// Compares several recordings of a server. If the sum is too far off, as many runs again must bring it back.
void ExpectWithinErrors(const Load& load, int runs) {
  Squares squares;
  for (int run = 0; run < runs; ++run) RunOnce(load, squares);
  for (int run = 0; run < runs && !squares.are_within_errors(); ++run) RunOnce(load, squares);
  std::printf("%zu stacks in %.0f bundles, and %zu whole; chi-square %.1f\n", squares.stacks, squares.n, squares.whole,
              squares.sum);
  // Not of each recording: now and then redis has a CPU for each busy thread, and hardly any wait.
  EXPECT_GT(squares.not_sampled, 1'000u * static_cast<uint64_t>(runs)) << "hardly any load: no test";
  ASSERT_GT(squares.n, static_cast<double>(runs)) << "hardly anything was compared";
  EXPECT_TRUE(squares.are_within_errors());
}

TEST(Shares, OfPostgresAreWithinTheirErrors) {
  if (!PostgresLoad::IsInstalled()) GTEST_SKIP() << "PostgreSQL is not installed";
  const PostgresLoad postgres;
  ASSERT_TRUE(postgres.is_ready());
  ExpectWithinErrors(postgres.load(), Runs());
}

TEST(Shares, OfRedisAreWithinTheirErrors) {
  if (!IsInstalled("redis-server")) GTEST_SKIP() << "redis is not installed";
  const RedisLoad redis;
  ExpectWithinErrors(redis.load(), Runs());
}

}  // namespace
}  // namespace offcpu::integration

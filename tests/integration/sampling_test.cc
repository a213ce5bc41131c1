// A sample of short waits adds up to what all of them do: compared with an exact recording of the same run.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <vector>

#include "tests/integration/harness.h"

namespace offcpu::integration {
namespace {

struct Both {
  Recording exact;
  Recording sample;
};

// Two recordings of one run at the same time.
Both RecordBoth(const std::vector<pid_t>& pids, uint64_t sample_ns, Target& target) {
  Both both;
  RecordConfig config = Unthrottled(pids);
  absl::StatusOr<std::unique_ptr<Recorder>> exact = Recorder::Start(config);
  EXPECT_TRUE(exact.ok()) << exact.status();
  if (!exact.ok()) return both;
  config.sample_ns = sample_ns;
  both.sample = Record(config, target);
  absl::StatusOr<Profile> profile = (*exact)->Stop();
  EXPECT_TRUE(profile.ok()) << profile.status();
  if (!profile.ok()) return both;
  both.exact.profile = *std::move(profile);
  both.exact.names = Symbolize(both.exact.profile);
  return both;
}

// By how many standard errors the sample is off, for the time and the count of the rows that are `wanted`.
struct Deviation {
  double ns = 0;
  double count = 0;
};

Deviation DeviationOf(const Both& both, const RowPredicate& wanted) {
  const Measure exact = both.exact.Sum(wanted);
  const Measure sample = both.sample.Sum(wanted);
  double ns_variance = 0;
  double count_variance = 0;
  for (const StackRow& row : both.sample.Rows(wanted)) {
    ns_variance += row.row->ns_variance;
    count_variance += row.row->count_variance;
  }
  const auto difference = [](uint64_t a, uint64_t b) { return static_cast<double>(a) - static_cast<double>(b); };
  return {.ns = difference(sample.ns, exact.ns) / std::sqrt(ns_variance),
          .count = difference(sample.count, exact.count) / std::sqrt(count_variance)};
}

// The deviations of an estimate that is right, with an error that is right, have mean 0 and variance 1. The bounds are
// five standard errors of either: a right one fails once in a million runs.
void ExpectStandardNormal(const std::vector<double>& deviations, const char* what) {
  const auto n = static_cast<double>(deviations.size());
  double sum = 0;
  double squares = 0;
  for (const double z : deviations) {
    sum += z;
    squares += z * z;
  }
  std::printf("%s: %zu stacks, mean deviation %.2f, mean square %.2f standard errors\n", what, deviations.size(),
              sum / n, squares / n);
  EXPECT_LT(std::abs(sum / n), 5 / std::sqrt(n)) << what;
  EXPECT_LT(std::abs(squares / n - 1), 5 * std::sqrt(2 / n)) << what;
}

TEST(Sampling, SumsAndCountsAreUnbiasedAndTheirErrorsRight) {
  constexpr uint64_t kSampleNs = 5'000'000;  // most waits of the target are shorter
  std::vector<double> ns;
  std::vector<double> counts;
  for (int run = 0; run < 4; ++run) {
    const std::unique_ptr<Target> target = Target::Start({"waits", "--seconds", "1"});
    ASSERT_NE(target, nullptr);
    const Both both = RecordBoth({target->pid()}, kSampleNs, *target);
    for (const char* function : {"wait_in_nanosleep", "wait_in_futex", "wait_in_pipe", "wait_in_poll", "wait_in_epoll",
                                 "wait_in_mutex", "wait_in_condvar", "wait_in_virtual", "wait_in_lambda"}) {
      const Deviation deviation =
          DeviationOf(both, [function](const StackRow& row) { return row.complete() && row.Has(function); });
      ASSERT_TRUE(std::isfinite(deviation.ns)) << function << " is not in the sample";
      ns.push_back(deviation.ns);
      counts.push_back(deviation.count);
    }
    EXPECT_EQ(both.sample.profile.stats.sample_ns, kSampleNs);
    EXPECT_GT(both.sample.profile.stats.not_drawn, 0u);
    EXPECT_EQ(both.exact.profile.stats.not_drawn, 0u);
  }
  ExpectStandardNormal(ns, "time");
  ExpectStandardNormal(counts, "count");
}

// Waits of a few microseconds, more on a busy machine, hardly one of which is kept for its length.
TEST(Sampling, AConvoyOfShortWaitsShows) {
  constexpr uint64_t kSampleNs = 500'000;
  const std::unique_ptr<Target> target = Target::Start({"pingpong", "--seconds", "1"});
  ASSERT_NE(target, nullptr);
  const std::vector<pid_t> pids = {target->pid(), target->Detail("pong")};
  const Both both = RecordBoth(pids, kSampleNs, *target);
  for (const pid_t pid : pids) {
    const RowPredicate in_turn = [pid](const StackRow& row) {  // not: before the run, for the test
      return row.process->key.pid == pid && row.row->kind != WaitKind::kOpen && row.row->max_ns < 100'000'000;
    };
    const Measure exact = both.exact.Sum(in_turn);
    const Measure sample = both.sample.Sum(in_turn);
    std::printf("%d: %.1f ms in %llu waits; in the sample %.1f ms\n", pid, static_cast<double>(exact.ns) / 1e6,
                static_cast<unsigned long long>(exact.count), static_cast<double>(sample.ns) / 1e6);
    EXPECT_LT(exact.ns / exact.count, kSampleNs / 4) << "it is not the load that this test is about";
    const Deviation deviation = DeviationOf(both, in_turn);
    EXPECT_LT(std::abs(deviation.ns), 5);
    EXPECT_LT(std::abs(deviation.count), 5);
  }
  EXPECT_LT(both.sample.profile.stats.intervals, both.exact.profile.stats.intervals / 2) << "or it saves nothing";
}

}  // namespace
}  // namespace offcpu::integration

// A sample of short waits adds up to what all of them do: compared with an exact recording of the same run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

#include "symbolize/symbolizer.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {
namespace {

constexpr uint64_t kSampleNs = 50'000;

struct Both {
  Recording exact;
  Recording sample;
};

// Two recordings of one run at the same time, of the threads that wait.
Both RecordBoth(Target& target) {
  Both both;
  RecordConfig config = Unthrottled({target.pid()});
  config.comms = {"wait_*"};
  config.per_thread = true;
  absl::StatusOr<std::unique_ptr<Recorder>> exact = Recorder::Start(config);
  EXPECT_TRUE(exact.ok()) << exact.status();
  if (!exact.ok()) return both;
  config.sample_ns = kSampleNs;
  both.sample = Record(config, target);
  absl::StatusOr<Profile> profile = (*exact)->Stop();
  EXPECT_TRUE(profile.ok()) << profile.status();
  if (!profile.ok()) return both;
  both.exact.profile = Symbolize(*std::move(profile));
  EXPECT_EQ(both.sample.profile.stats.sample_ns, kSampleNs);
  EXPECT_GT(both.sample.profile.stats.not_sampled, 0u);
  EXPECT_EQ(both.exact.profile.stats.not_sampled, 0u);
  return both;
}

// A figure of one stack of one thread.
struct Estimate {
  double exact = 0;
  double sample = 0;
  double variance = 0;

  double deviation() const { return sample - exact; }
};

struct Estimates {
  Estimate ns;
  Estimate count;
};

// By stack, which is to say function and thread. A stack that could not be taken is below the function all the same: a
// thread has its name.
std::map<std::pair<std::string, int32_t>, Estimates> EstimatesOf(const Both& both) {
  std::map<std::pair<std::string, int32_t>, Estimates> estimates;
  const auto any = [](const StackRow&) { return true; };
  for (const StackRow& row : both.exact.Rows(any)) {
    Estimates& estimate = estimates[{row.comm, row.row->tid}];
    estimate.ns.exact += static_cast<double>(row.row->total_ns());
    estimate.count.exact += static_cast<double>(row.row->count);
  }
  for (const StackRow& row : both.sample.Rows(any)) {
    const bool in_wait = row.row->kind == WaitKind::kSleeping;  // it may be preempted between two of them
    EXPECT_TRUE(!in_wait || !row.complete() || row.Has(row.comm)) << row.Text();
    Estimates& estimate = estimates[{row.comm, row.row->tid}];
    estimate.ns.sample += static_cast<double>(row.row->total_ns());
    estimate.ns.variance += row.row->ns_variance;
    estimate.count.sample += static_cast<double>(row.row->count);
    estimate.count.variance += row.row->count_variance;
  }
  return estimates;
}

// Over the stacks of one function, which are independent of each other.
class Statistic {
 public:
  void Add(const Estimate& estimate) {
    ++n_;
    exact_ += estimate.exact;
    deviation_ += estimate.deviation();
    variance_ += estimate.variance;
    squares_ += estimate.deviation() * estimate.deviation();
  }

  // The sum of all deviations over its standard error has mean 0 and variance 1 if the estimates are right. (The mean
  // of the deviations over their own errors has not quite: where too little is sampled, its error is too small as
  // well.) With eight of these figures and as many of those below, one is beyond 4.6 once in 14,000 runs. A bias of
  // half a standard error in each of 180 stacks moves the figure by 6.7.
  //
  // The squares of all deviations over all variances tell whether the errors are right: 1, with a standard error of
  // sqrt(2 / n); the cube root of that mean is nearly normal. (Not the mean of the squares over their own variances: of
  // what is sampled seldom, one stack of which too little was moves that far.)
  void Expect(const std::string& what) const {
    const double bias = deviation_ / std::sqrt(variance_);
    const double mean_square = squares_ / variance_;
    std::printf("%s: %.0f stacks, %+.3f %%, which is %+.2f standard errors; mean square %.2f\n", what.c_str(), n_,
                100 * deviation_ / exact_, bias, mean_square);
    EXPECT_GE(n_, 180) << "half a standard error would not be seen";
    EXPECT_LT(std::abs(bias), 4.6) << what;
    const double variance_of_root = 2 / (9 * n_);
    EXPECT_LT(std::abs(std::cbrt(mean_square) - (1 - variance_of_root)), 4.6 * std::sqrt(variance_of_root)) << what;
  }

 private:
  double n_ = 0;
  double exact_ = 0;
  double deviation_ = 0;
  double variance_ = 0;
  double squares_ = 0;
};

// How often a lane of the target has each of its waits that are longer than the bound.
const std::map<std::string, double> kLongWaits = {{"wait_200us", 20}, {"wait_1ms", 5}, {"wait_5ms", 2}};

// All of them are in the sample as they are. Besides them the thread may have been preempted for a moment, which is
// sampled or not: either way the sample is off by no more than the bound. So it is where the host has taken the CPU
// away between the start of the timer and the switch, and next to nothing of the wait was left; one such among a
// stack's waits is rare. A wait that is lost though it was long misses four bounds at least.
void ExpectKept(const Estimates& estimates, double waits, const std::string& function) {
  const double others = estimates.count.exact - waits;
  EXPECT_GE(others, 0) << function;
  const double short_ones = std::max({1.0, others, std::abs(estimates.count.deviation())});
  EXPECT_LE(std::abs(estimates.ns.deviation()), short_ones * static_cast<double>(kSampleNs)) << function;
}

TEST(Sampling, SumsAndCountsAreUnbiasedAndTheirErrorsRight) {
  std::map<std::string, Statistic> ns;
  std::map<std::string, Statistic> counts;
  for (int run = 0; run < 10; ++run) {
    const std::unique_ptr<Target> target = Target::Start({"mix", "--lanes", "18"});
    ASSERT_NE(target, nullptr);
    for (const auto& [stack, estimates] : EstimatesOf(RecordBoth(*target))) {
      const std::string& function = stack.first;
      if (const auto waits = kLongWaits.find(function); waits != kLongWaits.end()) {
        ExpectKept(estimates, waits->second, function);
        continue;
      }
      ASSERT_GT(estimates.ns.variance, 0) << function << " is not in the sample";
      ns[function].Add(estimates.ns);
      counts[function].Add(estimates.count);
    }
  }
  EXPECT_EQ(ns.size(), 4u);
  for (const auto& [function, statistic] : ns) statistic.Expect(function + ", time");
  for (const auto& [function, statistic] : counts) statistic.Expect(function + ", count");
}

// Thousands of short waits a second, hardly one of which is kept for its length.
TEST(Sampling, AConvoyOfShortWaitsShows) {
  Both both;
  Estimates estimates;
  const auto are_short = [&] { return estimates.ns.exact < kSampleNs * estimates.count.exact; };
  // Whatever else runs on their CPU makes the waits longer.
  for (int run = 0; run < 3 && !are_short(); ++run) {
    const std::unique_ptr<Target> target = Target::Start({"mix", "convoy", "--count", "40000"});
    ASSERT_NE(target, nullptr);
    both = RecordBoth(*target);
    const auto stacks = EstimatesOf(both);
    ASSERT_EQ(stacks.size(), 1u);
    estimates = stacks.begin()->second;
  }
  const double error = std::sqrt(estimates.ns.variance);
  std::printf("%.1f ms in %.0f waits; in the sample %.1f ms with a standard error of %.1f ms\n",
              estimates.ns.exact / 1e6, estimates.count.exact, estimates.ns.sample / 1e6, error / 1e6);
  if (!are_short()) GTEST_SKIP() << "something else keeps that CPU busy: no test";
  EXPECT_LT(error, 0.01 * estimates.ns.exact);
  // Once in 10,000 runs a right estimate is farther off.
  EXPECT_LT(std::abs(estimates.ns.deviation()), 3.9 * error);
  EXPECT_LT(both.sample.profile.stats.intervals, both.exact.profile.stats.intervals) << "or it saves nothing";
}

}  // namespace
}  // namespace offcpu::integration

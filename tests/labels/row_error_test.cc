#include "labels/row_error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/profile/sampled_profile.h"

namespace offcpu {
namespace {

// 100 ms with a standard error of so much.
RowSums Estimate(double error_ns, uint64_t sampled = 100) {
  return {.blocked_ns = 100'000'000, .ns_variance = error_ns * error_ns, .sampled = sampled};
}

std::string TextOf(double error_ns, uint64_t sampled = 100) {
  return ErrorText(Estimate(error_ns, sampled), RowValue::kOffCpu);
}

std::string Accuracy(const NamedProfile& profile) {
  const std::vector<RowSums> rows(profile.rows.begin(), profile.rows.end());
  return AccuracyText(profile, rows, SumOf(profile.rows).total_ns());
}

TEST(RowErrorTest, AnErrorIsAPartOfWhatItIsOf) {
  EXPECT_EQ(TextOf(0), "");
  EXPECT_EQ(TextOf(4e6), "±4 %");
  EXPECT_EQ(TextOf(1.449e7), "±14 %");
  EXPECT_EQ(TextOf(1e8), "±100 %");
}

// It is never shown as none, and never longer than its column.
TEST(RowErrorTest, SmallAndLargeErrors) {
  EXPECT_EQ(TextOf(9.4e5), "±0.9 %");
  EXPECT_EQ(TextOf(9.6e5), "±1 %");
  EXPECT_EQ(TextOf(5.1e4), "±0.1 %");
  EXPECT_EQ(TextOf(4.9e4), "±<0.1 %");
  EXPECT_EQ(TextOf(1), "±<0.1 %");
  EXPECT_EQ(TextOf(9.99e8), "±999 %");
  EXPECT_EQ(TextOf(1e9), "±>999 %");
}

TEST(RowErrorTest, FilesMayHaveErrorsBeyondAllNumbers) {
  EXPECT_EQ(StandardError(1e300), kMostSum);
  EXPECT_EQ(TextOf(1e150), "±>999 %");
}

TEST(RowErrorTest, OfFewSampledWaitsItIsUncertainItself) {
  EXPECT_EQ(TextOf(1e8, 1), "±100 %?");
  EXPECT_EQ(TextOf(3.3e7, 9), "±33 %?");
  EXPECT_EQ(TextOf(3.2e7, 10), "±32 %");
  EXPECT_EQ(TextOf(3.2e7, 0), "±32 %") << "an older file does not tell how many there were";
}

// The error of n sampled waits of equal weight, each with a probability p: the square root of (1 - p) / n.
TEST(RowErrorTest, EachFigureHasItsOwn) {
  const RowSums sums = SampledWaits(300);
  EXPECT_EQ(sums.sampled, 300u);
  EXPECT_EQ(sums.count, 1200u);
  EXPECT_EQ(sums.total_ns(), 30'000'000u);
  const double part = std::sqrt(0.75 / 300);
  EXPECT_EQ(part, 0.05);
  EXPECT_EQ(ErrorOf(sums, RowValue::kOffCpu), 1'500'000u);
  EXPECT_EQ(ErrorOf(sums, RowValue::kWall), 1'500'000u);
  EXPECT_EQ(ErrorOf(sums, RowValue::kBlocked), 900'000u);
  EXPECT_EQ(ErrorOf(sums, RowValue::kRunnable), 600'000u);
  EXPECT_EQ(ErrorOf(sums, RowValue::kCount), 60u);
  EXPECT_EQ(ErrorOf(sums, RowValue::kCpu), 0u);
  EXPECT_EQ(ErrorOf(sums, RowValue::kSamples), 0u);
  EXPECT_EQ(WithError("30.0 ms", sums, RowValue::kOffCpu), "30.0 ms ±5 %");
  EXPECT_EQ(WithError("30.0 ms", RowSums{.blocked_ns = 30'000'000}, RowValue::kOffCpu), "30.0 ms");
}

// One of the sampled waits was runnable, the others were blocked: one says what is runnable.
TEST(RowErrorTest, APartOfTheTimeMayBeLessCertainThanTheWhole) {
  RowSums sums;
  for (int i = 0; i < 99; ++i) sums.Add(RowSums::OfWait(1'000, 0, 0, kSampleNs));
  sums.Add(RowSums::OfWait(0, 1'000, 0, kSampleNs));
  EXPECT_EQ(ErrorText(sums, RowValue::kOffCpu), "±10 %");
  EXPECT_EQ(ErrorText(sums, RowValue::kRunnable), "±99 %");
}

TEST(RowErrorTest, SumsHaveTheRootOfTheSumOfVariances) {
  const RowSums sums = SumOf(SampledProfile().profile.rows);
  EXPECT_EQ(sums.total_ns(), 110'100'000u);
  EXPECT_EQ(sums.sampled, 301u);
  EXPECT_NEAR(sums.ns_variance, 1.5e6 * 1.5e6 + 0.75e10, 1);
  EXPECT_EQ(ErrorOf(sums, RowValue::kOffCpu), 1'502'498u);
  EXPECT_EQ(ErrorText(sums, RowValue::kOffCpu), "±1 %");
}

TEST(RowErrorTest, WhereNothingWasSampledThereMayBeThreeTimesT) {
  ProfileStats stats;
  EXPECT_EQ(UnsampledMostNs(stats), 0u);
  stats.sample_ns = 50'000;
  stats.sample_most_ns = 40'000'000;
  EXPECT_EQ(UnsampledMostNs(stats), 0u) << "all were sampled";
  stats.not_sampled = 2;
  EXPECT_EQ(UnsampledMostNs(stats), 80'000'000u) << "each is shorter than T";
  stats.not_sampled = 3;
  EXPECT_EQ(UnsampledMostNs(stats), 120'000'000u);
  stats.not_sampled = 1'000'000;
  EXPECT_EQ(UnsampledMostNs(stats), 120'000'000u);
}

TEST(RowErrorTest, AccuracyOfARecording) {
  FakeProfile fake = SampledProfile();
  NamedProfile& profile = fake.profile;
  const std::string sampled = "waits below 100 us sampled; ";
  EXPECT_EQ(Accuracy(profile), sampled + "times of rows above 1 % within ±5 % (standard error)")
      << "the row of one has less";
  profile.rows[2].ns_variance = 0;
  EXPECT_EQ(Accuracy(profile), sampled + "none in rows above 1 % of the time");
  EXPECT_EQ(AccuracyText(profile, {}, 0), sampled + "no row has 1 % of the time");
  profile.rows[3].ns_variance = 0;
  EXPECT_EQ(Accuracy(profile), sampled + "none sampled: at most 300 us more");
  EXPECT_TRUE(IsSample(profile));
  profile.stats.not_sampled = 0;
  EXPECT_EQ(Accuracy(profile), "every wait recorded");
  EXPECT_FALSE(IsSample(profile));
}

// At the limit: 1 % of 100 ms is 1 ms.
TEST(RowErrorTest, ARowOfOnePercentCounts) {
  FakeProfile fake;
  const auto accuracy = [&fake](uint64_t ns) {
    fake.profile.rows.clear();
    fake.Row(0, 0, 0, 0, 100'000'000 - ns);
    fake.Row(0, 0, 0, 0, ns);
    fake.profile.rows.back().ns_variance = 1e10;
    return Accuracy(fake.profile);
  };
  fake.profile.stats.sample_most_ns = kSampleNs;
  EXPECT_TRUE(accuracy(1'000'000).find("within ±10 %") != std::string::npos) << accuracy(1'000'000);
  EXPECT_TRUE(accuracy(999'999).find("none in rows") != std::string::npos) << accuracy(999'999);
}

TEST(RowErrorTest, TheLegendSaysWhatMarksMean) {
  FakeProfile fake = SampledProfile();
  EXPECT_EQ(
      ErrorLegend(fake.profile),
      "± standard error, ? of fewer than 10 sampled waits; rows without ±, and rows not shown, lack at most 300 us\n");
  fake.profile.stats.not_sampled = 0;
  EXPECT_EQ(ErrorLegend(fake.profile), "± standard error, ? of fewer than 10 sampled waits\n");
  for (NamedRow& row : fake.profile.rows) row.ns_variance = 0;
  EXPECT_EQ(ErrorLegend(fake.profile), "");
}

}  // namespace
}  // namespace offcpu

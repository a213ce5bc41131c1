#include "labels/row_error.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bytes/units.h"

namespace offcpu {
namespace {

// "±4 %": never 0, and never long.
std::string PercentOfError(double part) {
  const double percent = 100 * part;
  if (percent < 0.05) return "±<0.1 %";
  if (percent >= 999.5) return "±>999 %";
  return absl::StrFormat("±%.*f %%", percent < 0.95 ? 1 : 0, percent);
}

bool HasError(const NamedProfile& profile) {
  return std::any_of(profile.rows.begin(), profile.rows.end(), [](const NamedRow& row) { return row.ns_variance > 0; });
}

// The largest error, as a part of its row, among the rows that have at least a hundredth of the time.
struct Worst {
  bool has_rows = false;
  double part = 0;
};

Worst WorstOf(std::span<const RowSums> rows, uint64_t total_ns) {
  Worst worst;
  for (const RowSums& row : rows) {
    if (row.total_ns() == 0 || row.total_ns() < total_ns / 100) continue;
    worst.has_rows = true;
    worst.part = std::max(worst.part, std::sqrt(row.ns_variance) / static_cast<double>(row.total_ns()));
  }
  return worst;
}

}  // namespace

double VarianceOf(const RowSums& sums, RowValue value) {
  switch (value) {
    case RowValue::kCount:
      return sums.count_variance;
    case RowValue::kOffCpu:
    case RowValue::kWall:
      return sums.ns_variance;
    case RowValue::kBlocked:
      return sums.blocked_variance;
    case RowValue::kRunnable:
      return sums.runnable_variance;
    case RowValue::kSamples:
    case RowValue::kCpu:
      break;
  }
  return 0;
}

std::string ErrorText(const RowSums& sums, RowValue value) {
  const double variance = VarianceOf(sums, value);
  const uint64_t amount = ValueOf(sums, value);
  if (variance <= 0 || amount == 0) return "";
  const bool is_of_few = sums.sampled != 0 && sums.sampled < kFewSampled;
  return PercentOfError(std::sqrt(variance) / static_cast<double>(amount)) + (is_of_few ? "?" : "");
}

std::string WithError(const std::string& figure, const RowSums& sums, RowValue value) {
  const std::string error = ErrorText(sums, value);
  return error.empty() ? figure : absl::StrCat(figure, " ", error);
}

RowSums SumOf(std::span<const NamedRow> rows) {
  RowSums sums;
  for (const NamedRow& row : rows) sums.Add(row);
  return sums;
}

uint64_t MostSampleNs(const ProfileStats& stats) { return std::max(stats.sample_ns, stats.sample_most_ns); }

bool IsSample(const NamedProfile& profile) { return profile.stats.not_sampled != 0 || HasError(profile); }

uint64_t UnsampledMostNs(const ProfileStats& stats) {
  return std::min<uint64_t>(3, stats.not_sampled) * MostSampleNs(stats);
}

std::string AccuracyText(const NamedProfile& profile, std::span<const RowSums> rows, uint64_t total_ns) {
  if (!IsSample(profile)) return "every wait recorded";
  const std::string sampled = absl::StrCat("waits below ", FormatDuration(MostSampleNs(profile.stats)), " sampled; ");
  if (!HasError(profile))
    return absl::StrCat(sampled, "none sampled: at most ", FormatDuration(UnsampledMostNs(profile.stats)), " more");
  const Worst worst = WorstOf(rows, total_ns);
  if (!worst.has_rows) return absl::StrCat(sampled, "no row has 1 % of the time");
  if (worst.part == 0) return absl::StrCat(sampled, "none in rows above 1 % of the time");
  return absl::StrCat(sampled, "times of rows above 1 % within ", PercentOfError(worst.part), " (standard error)");
}

std::string ErrorLegend(const NamedProfile& profile) {
  if (!IsSample(profile)) return "";
  const uint64_t most_ns = UnsampledMostNs(profile.stats);
  const std::string unsampled =
      most_ns == 0 ? "" : absl::StrCat("; rows without ±, and rows not shown, lack at most ", FormatDuration(most_ns));
  return absl::StrCat("± standard error, ? of fewer than ", kFewSampled, " sampled waits", unsampled, "\n");
}

}  // namespace offcpu

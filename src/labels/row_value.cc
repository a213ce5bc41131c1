#include "labels/row_value.h"

#include <array>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bytes/units.h"

namespace offcpu {

absl::StatusOr<RowValue> ParseRowValue(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, RowValue>, 7> kValues = {{{"off_cpu", RowValue::kOffCpu},
                                                                             {"blocked", RowValue::kBlocked},
                                                                             {"runnable", RowValue::kRunnable},
                                                                             {"count", RowValue::kCount},
                                                                             {"cpu", RowValue::kCpu},
                                                                             {"samples", RowValue::kSamples},
                                                                             {"wall", RowValue::kWall}}};
  for (const auto& [known, value] : kValues) {
    if (name == known) return value;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "no value is called '", name, "': there are off_cpu, blocked, runnable, count, cpu, samples and wall"));
}

uint64_t ValueOf(const RowSums& sums, RowValue value) {
  switch (value) {
    case RowValue::kBlocked:
      return sums.blocked_ns;
    case RowValue::kRunnable:
      return sums.runnable_ns;
    case RowValue::kCount:
      return sums.count;
    case RowValue::kCpu:
      return sums.cpu_ns;
    case RowValue::kSamples:
      return sums.samples;
    case RowValue::kWall:
      return sums.wall_ns();
    case RowValue::kOffCpu:
      break;
  }
  return sums.total_ns();
}

uint64_t Total(const NamedProfile& profile, RowValue value) {
  uint64_t total = 0;
  for (const ProfileRow& row : profile.rows) total += ValueOf(row, value);
  return total;
}

RowValue DefaultValue(const ProfileFacts& profile) {
  return profile.stats.oncpu_period_ns != 0 ? RowValue::kWall : RowValue::kOffCpu;
}

bool IsTime(RowValue value) { return value != RowValue::kCount && value != RowValue::kSamples; }

std::string FormatValue(uint64_t amount, RowValue value) {
  return IsTime(value) ? FormatDuration(amount) : absl::StrCat(amount, " times");
}

}  // namespace offcpu

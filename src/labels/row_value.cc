#include "labels/row_value.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bytes/nearest_word.h"
#include "bytes/units.h"

namespace offcpu {

std::vector<std::string> RowValueNames(bool with_samples) {
  std::vector<std::string> names;
  for (const RowValueInfo& info : RowValues(with_samples)) names.emplace_back(info.name);
  return names;
}

absl::StatusOr<RowValue> ParseRowValue(const std::string& name) {
  for (const RowValueInfo& info : kRowValues) {
    if (info.name == name) return info.value;
  }
  const std::vector<std::string> names = RowValueNames(true);
  return absl::InvalidArgumentError(absl::StrCat("no value is called '", name, "'", DidYouMean(name, names),
                                                 "; the values are ", absl::StrJoin(names, ", ")));
}

uint64_t ValueOf(const RowSums& sums, RowValue value) {
  if (value == RowValue::kOffCpu) return sums.total_ns();
  if (value == RowValue::kWall) return sums.wall_ns();
  return sums.*InfoOf(value).sum;
}

uint64_t Total(std::span<const NamedRow> rows, RowValue value) {
  uint64_t total = 0;
  for (const ProfileRow& row : rows) total += ValueOf(row, value);
  return total;
}

RowValue DefaultValue(const ProfileFacts& profile) {
  return profile.stats.oncpu_period_ns != 0 ? RowValue::kWall : RowValue::kOffCpu;
}

bool IsTime(RowValue value) { return InfoOf(value).is_time; }

std::string FormatValue(uint64_t amount, RowValue value) {
  return IsTime(value) ? FormatDuration(amount) : absl::StrCat(amount, " times");
}

}  // namespace offcpu

#include "output/row_value.h"

#include <array>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "output/units.h"

namespace offcpu {

absl::StatusOr<RowValue> ParseRowValue(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, RowValue>, 4> kValues = {{{"off_cpu", RowValue::kOffCpu},
                                                                             {"blocked", RowValue::kBlocked},
                                                                             {"runnable", RowValue::kRunnable},
                                                                             {"count", RowValue::kCount}}};
  for (const auto& [known, value] : kValues) {
    if (name == known) return value;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no value is called '", name, "': there are off_cpu, blocked, runnable and count"));
}

uint64_t ValueOf(const ProfileRow& row, RowValue value) {
  switch (value) {
    case RowValue::kBlocked:
      return row.blocked_ns;
    case RowValue::kRunnable:
      return row.runnable_ns;
    case RowValue::kCount:
      return row.count;
    case RowValue::kOffCpu:
      break;
  }
  return row.total_ns();
}

std::string FormatValue(uint64_t amount, RowValue value) {
  return value == RowValue::kCount ? absl::StrCat(amount, " times") : FormatDuration(amount);
}

}  // namespace offcpu

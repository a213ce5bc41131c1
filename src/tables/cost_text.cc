#include "tables/cost_text.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bytes/percent.h"
#include "bytes/units.h"

namespace offcpu {

std::string CostText(const ProfileStats& stats) {
  if (stats.host_cpu_ns == 0) return "";
  const uint64_t all_ns = stats.own_programs_ns + stats.capture_ns + stats.own_process_ns;
  const std::string budget = stats.cpu_budget_ppm == 0 ? "not held, the sample is fixed"
                                                       : absl::StrCat("budget ", PercentText(stats.cpu_budget_ppm));
  return absl::StrFormat("%.2f %% of the host (%s): BPF programs %s, captures %s, recorder %s",
                         100 * static_cast<double>(all_ns) / static_cast<double>(stats.host_cpu_ns), budget,
                         FormatDuration(stats.own_programs_ns), FormatDuration(stats.capture_ns),
                         FormatDuration(stats.own_process_ns));
}

}  // namespace offcpu

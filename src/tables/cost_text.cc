#include "tables/cost_text.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bytes/percent.h"
#include "bytes/units.h"

namespace offcpu {

namespace {

std::string OfHost(const ProfileStats& stats, double ns) {
  return absl::StrFormat("%.2f %%", 100 * ns / static_cast<double>(stats.host_cpu_ns));
}

std::string BudgetText(const ProfileStats& stats) {
  if (stats.cpu_budget_ppm == 0) return "no budget, the sample is fixed";
  return absl::StrCat("budget ", PercentText(stats.cpu_budget_ppm));
}

}  // namespace

std::string CostText(const ProfileStats& stats) {
  if (stats.host_cpu_ns == 0) return "";
  const uint64_t all_ns = stats.own_programs_ns + stats.capture_ns + stats.own_process_ns;
  return absl::StrFormat("%s of the host (%s): BPF programs %s, captures %s, recorder %s",
                         OfHost(stats, static_cast<double>(all_ns)), BudgetText(stats),
                         FormatDuration(stats.own_programs_ns), FormatDuration(stats.capture_ns),
                         FormatDuration(stats.own_process_ns));
}

}  // namespace offcpu

#include "tables/label_table.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bytes/units.h"
#include "bytes/utf8.h"
#include "classify/idle.h"
#include "tables/keep_most.h"

namespace offcpu {
namespace {

struct LabelSums {
  std::string value;
  RowSums sums;
};

std::vector<LabelSums> SumByLabel(const NamedProfile& profile, RowLabel label, bool hide_idle) {
  RowLabels labels(profile);
  std::vector<LabelSums> sums;
  absl::flat_hash_map<std::string, size_t> index;
  for (const NamedRow& row : profile.rows) {
    RowSums shown = row.sums();
    if (hide_idle && label != RowLabel::kIdle && IsIdle(row)) shown = {.runnable_ns = row.runnable_ns};
    if (shown.wall_ns() == 0 && shown.events() == 0) continue;
    std::string value = TextOf(labels.OfRow(row), label);
    const auto [it, inserted] = index.try_emplace(value, sums.size());
    if (inserted) sums.push_back({.value = std::move(value), .sums = {}});
    sums[it->second].sums.Add(shown);
  }
  return sums;
}

}  // namespace

void WriteLabelTable(const NamedProfile& profile, RowLabel label, RowValue value, bool hide_idle, size_t limit,
                     ByteSink sink) {
  std::vector<LabelSums> all = SumByLabel(profile, label, hide_idle);
  uint64_t total = 0;
  for (const LabelSums& one : all) total += ValueOf(one.sums, value);
  const size_t count = all.size();
  KeepMost(all, limit, [value](const LabelSums& one) { return ValueOf(one.sums, value); });
  const bool has_samples = profile.stats.oncpu_period_ns != 0;
  const std::string title = absl::AsciiStrToUpper(std::string(InfoOf(label).name));
  sink(absl::StrFormat("%7s %10s %10s %10s%s  %s\n", "SHARE", "OFF-CPU", "BLOCKED", "RUNNABLE",
                       has_samples ? "     ON-CPU" : "", title));
  for (const LabelSums& one : all) {
    const std::string on_cpu = has_samples ? absl::StrFormat(" %10s", FormatDuration(one.sums.cpu_ns)) : "";
    sink(absl::StrFormat("%7s %10s %10s %10s%s  %s\n", FormatPercent(ValueOf(one.sums, value), total),
                         FormatDuration(one.sums.total_ns()), FormatDuration(one.sums.blocked_ns),
                         FormatDuration(one.sums.runnable_ns), on_cpu,
                         one.value.empty() ? "[none]" : Printable(one.value)));
  }
  if (count > all.size()) sink(absl::StrCat("not shown: ", count - all.size(), "\n"));
}

}  // namespace offcpu

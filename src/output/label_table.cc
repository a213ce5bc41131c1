#include "output/label_table.h"

#include <array>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "output/idle.h"
#include "output/keep_most.h"
#include "output/units.h"
#include "output/utf8.h"
#include "symbolize/glob_match.h"

namespace offcpu {
namespace {

struct LabelSums {
  std::string value;
  RowSums sums;
};

std::string TextOf(const RowLabelValues& values, RowLabel label) {
  if (!HasLabel(values, label)) return "";
  const RowLabelValue& value = values[static_cast<size_t>(label)];
  return InfoOf(label).is_number ? absl::StrCat(value.number) : std::string(value.text);
}

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

bool IsKept(const std::vector<LabelFilter>& filters, const RowLabelValues& values) {
  std::array<bool, kRowLabelCount> is_asked = {};
  std::array<bool, kRowLabelCount> is_met = {};
  for (const LabelFilter& filter : filters) {
    const auto label = static_cast<size_t>(filter.label);
    is_asked[label] = true;
    is_met[label] = is_met[label] || Matches(filter.pattern, TextOf(values, filter.label));
  }
  return is_asked == is_met;
}

}  // namespace

absl::StatusOr<RowLabel> ParseRowLabel(const std::string& name) {
  std::string known;
  for (size_t i = 0; i < kRowLabelCount; ++i) {
    if (kRowLabels[i].name == name) return static_cast<RowLabel>(i);
    absl::StrAppend(&known, known.empty() ? "" : ", ", std::string(kRowLabels[i].name));
  }
  return absl::InvalidArgumentError(absl::StrCat("no label is called '", name, "': there are ", known));
}

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

absl::StatusOr<LabelFilter> ParseLabelFilter(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not of the form LABEL=PATTERN, as in comm=postgres*"));
  }
  const absl::StatusOr<RowLabel> label = ParseRowLabel(text.substr(0, equals));
  if (!label.ok()) return label.status();
  return LabelFilter{.label = *label, .pattern = text.substr(equals + 1)};
}

void KeepRows(const std::vector<LabelFilter>& filters, NamedProfile* profile) {
  if (filters.empty()) return;
  RowLabels labels(*profile);
  std::erase_if(profile->rows, [&](const NamedRow& row) { return !IsKept(filters, labels.OfRow(row)); });
}

}  // namespace offcpu

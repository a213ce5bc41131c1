#include "tables/label_table.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bytes/name_numbers.h"
#include "bytes/units.h"
#include "bytes/utf8.h"
#include "labels/row_error.h"
#include "tables/columns.h"
#include "tables/error_column.h"
#include "tables/keep_most.h"
#include "tables/row_groups.h"

namespace offcpu {

std::string_view LabelsName(const TableBy& by) {
  if (by.label == RowLabel::kWait) return "cause";
  return by.is_without_digits ? "thread" : InfoOf(by.label.value_or(RowLabel::kProcess)).name;
}

std::vector<LabelSums> SumByLabel(const NamedProfile& profile, std::span<const NamedRow> rows, const TableBy& by) {
  RowLabels labels(profile);
  std::vector<LabelSums> sums;
  absl::flat_hash_map<std::string, size_t> index;
  for (const NamedRow& row : rows) {
    std::string value = TextOf(labels.OfRow(row), by.label.value_or(RowLabel::kProcess));
    if (by.is_without_digits) value = WithoutDigits(value);
    const auto [it, inserted] = index.try_emplace(value, sums.size());
    if (inserted) sums.push_back({.value = std::move(value), .sums = {}});
    sums[it->second].sums.Add(row);
  }
  return sums;
}

absl::StatusOr<TableBy> ParseTableBy(const std::string& name) {
  if (name == "process") return TableBy{.apart = RowsApart::kProcesses};
  if (name == "command") return TableBy{};
  if (name == "cause") return TableBy{.label = RowLabel::kWait};  // the label `cause` has only the family
  if (name == "thread") return TableBy{.label = RowLabel::kComm, .is_without_digits = true};
  const absl::StatusOr<RowLabel> label = ParseRowLabel(name);
  if (label.ok()) return TableBy{.label = *label};
  return absl::Status(label.status().code(), absl::StrCat(std::string(label.status().message()), ", command, thread"));
}

void WriteLabelTable(const NamedProfile& profile, std::span<const NamedRow> rows, const TableBy& by,
                     const TableOptions& options, ByteSink sink) {
  const RowValue value = options.value;
  std::vector<LabelSums> all = SumByLabel(profile, rows, by);
  uint64_t total = 0;
  for (const LabelSums& one : all) total += ValueOf(one.sums, value);
  const size_t count = all.size();
  KeepMost(all, options.limit, [value](const LabelSums& one) { return ValueOf(one.sums, value); });
  const bool has_samples = profile.stats.oncpu_period_ns != 0;
  const bool has_errors = SumOf(rows).ns_variance > 0;
  const auto write = [&](const std::string& share, const std::string& off_cpu, std::string_view error,
                         const std::string& parts, const std::string& on_cpu, const std::string& text) {
    const std::string head = absl::StrFormat("%7s %10s%s %s%s  ", share, off_cpu, ErrorColumn(has_errors, error), parts,
                                             has_samples ? absl::StrFormat(" %10s", on_cpu) : "");
    const size_t room =
        options.columns == kNoLimit ? kNoLimit : options.columns - std::min(options.columns, ColumnsOf(head));
    sink(absl::StrCat(head, ShortenedInside(text, room), "\n"));
  };
  write("SHARE", "OFF-CPU", kErrorTitle, absl::StrFormat("%10s %10s", "BLOCKED", "RUNNABLE"), "ON-CPU",
        absl::AsciiStrToUpper(std::string(LabelsName(by))));
  for (const LabelSums& one : all) {
    write(FormatPercent(ValueOf(one.sums, value), total), FormatDuration(one.sums.total_ns()),
          ErrorText(one.sums, RowValue::kOffCpu),
          absl::StrFormat("%10s %10s", FormatDuration(one.sums.blocked_ns), FormatDuration(one.sums.runnable_ns)),
          FormatDuration(one.sums.cpu_ns), one.value.empty() ? "[none]" : Printable(one.value));
  }
  if (count > all.size()) sink(absl::StrCat("not shown: ", count - all.size(), "\n"));
}

}  // namespace offcpu

#include "labels/label_filter.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "classify/glob_match.h"

namespace offcpu {
namespace {

bool IsMet(const LabelFilter& filter, const RowLabelValues& values) {
  if (Matches(filter.pattern, TextOf(values, filter.label))) return true;
  return filter.label == RowLabel::kCause && Matches(filter.pattern, TextOf(values, RowLabel::kWait));
}

bool IsKept(const std::vector<LabelFilter>& filters, const RowLabelValues& values) {
  std::array<bool, kRowLabelCount> is_asked = {};
  std::array<bool, kRowLabelCount> is_met = {};
  for (const LabelFilter& filter : filters) {
    const auto label = static_cast<size_t>(filter.label);
    is_asked[label] = true;
    is_met[label] = is_met[label] || IsMet(filter, values);
  }
  return is_asked == is_met;
}

// What an account of a thread has of a row's labels.
constexpr RowLabel kOfThreads[] = {RowLabel::kPid,       RowLabel::kProcess, RowLabel::kExecutable,
                                   RowLabel::kContainer, RowLabel::kTid,     RowLabel::kComm};

std::vector<LabelFilter> OfThreads(const std::vector<LabelFilter>& filters) {
  std::vector<LabelFilter> some;
  std::copy_if(filters.begin(), filters.end(), std::back_inserter(some), [](const LabelFilter& filter) {
    return std::find(std::begin(kOfThreads), std::end(kOfThreads), filter.label) != std::end(kOfThreads);
  });
  return some;
}

RowLabelValues LabelsOf(const LedgerEntry& entry, RowLabels& labels) {
  RowLabelValues values = labels.OfProcess(entry.process);
  values[static_cast<size_t>(RowLabel::kTid)].number = entry.tid;
  values[static_cast<size_t>(RowLabel::kComm)].text = entry.comm;
  return values;
}

}  // namespace

absl::StatusOr<LabelFilter> ParseLabelFilter(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' does not have the form LABEL=PATTERN, as in comm=postgres*"));
  }
  const absl::StatusOr<RowLabel> label = ParseRowLabel(text.substr(0, equals));
  if (!label.ok()) return label.status();
  return LabelFilter{.label = *label, .pattern = text.substr(equals + 1)};
}

void KeepRows(const std::vector<LabelFilter>& filters, NamedProfile* profile) {
  if (filters.empty()) return;
  RowLabels labels(*profile);
  std::erase_if(profile->rows, [&](const NamedRow& row) { return !IsKept(filters, labels.OfRow(row)); });
  const std::vector<LabelFilter> of_threads = OfThreads(filters);
  std::erase_if(profile->ledger,
                [&](const LedgerEntry& entry) { return !IsKept(of_threads, LabelsOf(entry, labels)); });
}

}  // namespace offcpu

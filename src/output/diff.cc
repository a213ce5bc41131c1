#include "output/diff.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "classify/idle.h"
#include "output/folded.h"
#include "tables/row_groups.h"

namespace offcpu {
namespace {

// By name: before, and after.
using Sums = std::map<std::string, DiffLine>;

void AddStacks(const NamedProfile& profile, const ShownRows& shown, RowValue value, uint64_t DiffLine::*side,
               Sums& sums) {
  const FoldedOptions options = {.value = value, .nanoseconds = true};
  std::string folded;
  WriteFolded(profile, shown.rows(), options, [&folded](std::string_view piece) { folded.append(piece); });
  const std::vector<std::string> lines = absl::StrSplit(folded, '\n', absl::SkipEmpty());
  for (const std::string& line : lines) {
    const size_t space = line.rfind(' ');
    uint64_t amount = 0;
    if (absl::SimpleAtoi(line.substr(space + 1), &amount)) sums[line.substr(0, space)].*side += amount;
  }
}

void AddLabels(const NamedProfile& profile, const ShownRows& shown, const DiffOptions& options,
               uint64_t DiffLine::*side, Sums& sums) {
  RowLabels labels(profile);
  for (const NamedRow& row : shown.rows()) {
    std::string name = TextOf(labels.OfRow(row), options.by);
    if (options.is_without_digits) name = WithoutDigits(name);
    sums[std::move(name)].*side += ValueOf(row, options.value);
  }
}

DiffSide SideOf(const NamedProfile& profile, const ShownRows& shown, RowValue value) {
  return {.start_unix_ns = profile.start_unix_ns,
          .duration_ns = profile.duration_ns,
          .total = Total(shown.rows(), value),
          .hidden_ns = shown.is_less() ? TotalOf(shown.sums()).blocked_ns : 0};
}

std::vector<DiffLine> MostFirst(const Sums& sums, const ProfileDiff& diff) {
  std::vector<DiffLine> lines;
  for (const auto& [name, line] : sums) {
    if (line.before == 0 && line.after == 0) continue;
    lines.push_back(line);
    lines.back().name = name;
  }
  std::stable_sort(lines.begin(), lines.end(), [&diff](const DiffLine& a, const DiffLine& b) {
    return std::abs(diff.Change(a)) > std::abs(diff.Change(b));
  });
  return lines;
}

}  // namespace

double DiffSide::PerSecond(uint64_t amount) const {
  return duration_ns == 0 ? 0 : static_cast<double>(amount) * 1e9 / static_cast<double>(duration_ns);
}

std::string_view LabelsName(const DiffOptions& options) {
  return options.is_without_digits ? "thread" : InfoOf(options.by).name;
}

ProfileDiff DiffOf(const NamedProfile& before, const NamedProfile& after, const DiffOptions& options) {
  const ShownRows shown_before(before, options.hide_idle);
  const ShownRows shown_after(after, options.hide_idle);
  ProfileDiff diff = {.options = options,
                      .before = SideOf(before, shown_before, options.value),
                      .after = SideOf(after, shown_after, options.value)};
  Sums stacks;
  AddStacks(before, shown_before, options.value, &DiffLine::before, stacks);
  AddStacks(after, shown_after, options.value, &DiffLine::after, stacks);
  diff.stacks = MostFirst(stacks, diff);
  Sums labels;
  AddLabels(before, shown_before, options, &DiffLine::before, labels);
  AddLabels(after, shown_after, options, &DiffLine::after, labels);
  diff.labels = MostFirst(labels, diff);
  return diff;
}

}  // namespace offcpu

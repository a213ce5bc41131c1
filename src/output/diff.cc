#include "output/diff.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

#include "classify/idle.h"
#include "output/folded.h"
#include "tables/row_groups.h"

namespace offcpu {
namespace {

// By name: before, and after.
using Sums = std::map<std::string, DiffLine>;

void AddStacks(const NamedProfile& profile, const ShownRows& shown, RowValue value, uint64_t DiffLine::*side,
               Sums& sums) {
  ForEachStack(profile, shown.rows(), {.value = value},
               [&](const std::string& stack, uint64_t amount) { sums[stack].*side += amount; });
}

void AddLabels(const NamedProfile& profile, const ShownRows& shown, const DiffOptions& options,
               uint64_t DiffLine::*side, Sums& sums) {
  for (const LabelSums& one : SumByLabel(profile, shown.rows(), options.by))
    sums[one.value].*side += ValueOf(one.sums, options.value);
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

ProfileDiff DiffOf(NamedProfile before, NamedProfile after, const DiffOptions& options) {
  LeaveOutNumbers(&before, &after);
  const bool hide_idle = options.hide_idle && options.by.label != RowLabel::kIdle;
  const ShownRows shown_before(before, hide_idle);
  const ShownRows shown_after(after, hide_idle);
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

#include "output/diff.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

#include "classify/idle.h"
#include "labels/row_error.h"
#include "output/folded.h"
#include "tables/row_groups.h"

namespace offcpu {
namespace {

// By name: before, and after.
using Sums = std::map<std::string, DiffLine>;

// The members of a line that are of one recording.
struct SideOfLine {
  uint64_t DiffLine::*amount;
  double DiffLine::*variance;

  void Add(const RowSums& sums, RowValue value, DiffLine& line) const {
    line.*amount += ValueOf(sums, value);
    line.*variance += VarianceOf(sums, value);
  }
};
constexpr SideOfLine kBefore = {&DiffLine::before, &DiffLine::before_variance};
constexpr SideOfLine kAfter = {&DiffLine::after, &DiffLine::after_variance};

void AddStacks(const NamedProfile& profile, const ShownRows& shown, RowValue value, const SideOfLine& side,
               Sums& sums) {
  ForEachStack(profile, shown.rows(), {.value = value},
               [&](const std::string& stack, const RowSums& added) { side.Add(added, value, sums[stack]); });
}

void AddLabels(const NamedProfile& profile, const ShownRows& shown, const DiffOptions& options, const SideOfLine& side,
               Sums& sums) {
  for (const LabelSums& one : SumByLabel(profile, shown.rows(), options.by))
    side.Add(one.sums, options.value, sums[one.value]);
}

DiffSide SideOf(const NamedProfile& profile, const ShownRows& shown, RowValue value) {
  return {.start_unix_ns = profile.start_unix_ns,
          .duration_ns = profile.duration_ns,
          .total = Total(shown.rows(), value),
          .total_variance = VarianceOf(SumOf(shown.rows()), value),
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

double ProfileDiff::ChangeError(const DiffLine& line) const {
  return std::hypot(before.PerSecond(1) * std::sqrt(line.before_variance),
                    after.PerSecond(1) * std::sqrt(line.after_variance));
}

DiffLine ProfileDiff::Whole() const {
  return {.name = {},
          .before = before.total,
          .after = after.total,
          .before_variance = before.total_variance,
          .after_variance = after.total_variance};
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
  AddStacks(before, shown_before, options.value, kBefore, stacks);
  AddStacks(after, shown_after, options.value, kAfter, stacks);
  diff.stacks = MostFirst(stacks, diff);
  Sums labels;
  AddLabels(before, shown_before, options, kBefore, labels);
  AddLabels(after, shown_after, options, kAfter, labels);
  diff.labels = MostFirst(labels, diff);
  return diff;
}

}  // namespace offcpu

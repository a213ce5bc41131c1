#include "output/diff_tables.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "bytes/units.h"
#include "bytes/utf8.h"
#include "labels/stack_labels.h"
#include "profile/profile_row.h"

namespace offcpu {
namespace {

class DiffTables {
 public:
  DiffTables(const ProfileDiff& diff, ByteSink sink) : diff_(diff), sink_(sink) {}

  void WriteTotals() {
    const DiffLine whole = {.name = {}, .before = diff_.before.total, .after = diff_.after.total};
    sink_(absl::StrFormat("before   %s a second (%s), recorded for %s\n", Before(whole),
                          std::string(InfoOf(diff_.options.value).name), FormatDuration(diff_.before.duration_ns)));
    sink_(absl::StrFormat("after    %s a second, recorded for %s\n", After(whole),
                          FormatDuration(diff_.after.duration_ns)));
    sink_(absl::StrFormat("change   %s a second, %s\n", Change(whole), Share(whole)));
    sink_(HiddenLine(diff_));
  }

  void WriteLabels(size_t limit) {
    sink_(absl::StrFormat("\n%11s %9s %10s %10s  %s\n", "CHANGE", "SHARE", "BEFORE", "AFTER", Title()));
    const size_t count = std::min(limit, diff_.labels.size());
    for (size_t i = 0; i < count; ++i) {
      const DiffLine& line = diff_.labels[i];
      sink_(absl::StrFormat("%11s %9s %10s %10s  %s\n", Change(line), Share(line), Before(line), After(line),
                            line.name.empty() ? "[none]" : Printable(line.name)));
    }
    if (count < diff_.labels.size()) sink_(absl::StrCat("not shown: ", diff_.labels.size() - count, "\n"));
  }

  // Those whose change has this sign.
  void WriteStacks(const std::string& title, double sign, size_t limit) {
    size_t count = 0;
    for (const DiffLine& line : diff_.stacks) {
      if (diff_.Change(line) * sign <= 0) continue;
      if (count == 0) sink_(absl::StrCat("\n", title, ", stacks\n"));
      if (++count > limit) continue;
      sink_(absl::StrFormat("#%d  %s a second, %s  before %s, after %s\n", count, Change(line), Share(line),
                            Before(line), After(line)));
      WriteFrames(line.name);
    }
    if (count > limit) sink_(absl::StrCat("not shown: ", count - limit, "\n"));
  }

 private:
  std::string Rate(double per_second) const {
    const double amount = std::abs(per_second);
    return IsTime(diff_.options.value) ? FormatDuration(Rounded(amount)) : absl::StrFormat("%.1f", amount);
  }
  // Processes are told by their names, which are those of programs.
  std::string Title() const {
    const TableBy& by = diff_.options.by;
    return by.label == RowLabel::kProcess || !by.label ? "PROGRAM" : absl::AsciiStrToUpper(std::string(LabelsName(by)));
  }
  static std::string Sign(double number) { return number < 0 ? "-" : "+"; }
  std::string Before(const DiffLine& line) const { return Rate(diff_.before.PerSecond(line.before)); }
  std::string After(const DiffLine& line) const { return Rate(diff_.after.PerSecond(line.after)); }
  std::string Change(const DiffLine& line) const {
    const double change = diff_.Change(line);
    return Sign(change) + Rate(change);
  }
  std::string Share(const DiffLine& line) const {
    const double whole = diff_.before.PerSecond(diff_.before.total);
    if (whole == 0) return "new";
    const double share = 100 * diff_.Change(line) / whole;
    return absl::StrFormat("%s%.1f %%", Sign(share), std::abs(share));
  }

  void WriteFrames(const std::string& stack) {
    const std::vector<std::string> frames = absl::StrSplit(stack, ';');
    for (const std::string& frame : frames) {
      const std::string mark = frame == "-" ? "-- kernel --" : frame == kWakerMark ? "-- woken by --" : frame;
      sink_(absl::StrCat("        ", mark, "\n"));
    }
  }

  const ProfileDiff& diff_;
  ByteSink sink_;
};

}  // namespace

std::string HiddenLine(const ProfileDiff& diff) {
  if (diff.before.hidden_ns == 0 && diff.after.hidden_ns == 0) return "";
  const auto rate = [](const DiffSide& side) { return FormatDuration(Rounded(side.PerSecond(side.hidden_ns))); };
  return absl::StrFormat("hidden   waits for work, %s a second before, %s after; --idle=show shows them\n",
                         rate(diff.before), rate(diff.after));
}

void WriteDiffTables(const ProfileDiff& diff, size_t lines, size_t stacks, ByteSink sink) {
  DiffTables tables(diff, sink);
  tables.WriteTotals();
  tables.WriteLabels(lines);
  tables.WriteStacks("grew", 1, stacks);
  tables.WriteStacks("shrank", -1, stacks);
}

}  // namespace offcpu

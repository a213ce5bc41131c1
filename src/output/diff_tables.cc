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
#include "tables/columns.h"

namespace offcpu {
namespace {

constexpr size_t kChangeErrorColumns = 9;  // "±45.6 ms"

class DiffTables {
 public:
  DiffTables(const ProfileDiff& diff, ByteSink sink) : diff_(diff), sink_(sink) {}

  void WriteTotals() {
    const DiffLine whole = diff_.Whole();
    sink_(absl::StrFormat("before   %s%s a second (%s), recorded for %s\n", Before(whole),
                          Error(diff_.before, whole.before_variance), std::string(InfoOf(diff_.options.value).name),
                          FormatDuration(diff_.before.duration_ns)));
    sink_(absl::StrFormat("after    %s%s a second, recorded for %s\n", After(whole),
                          Error(diff_.after, whole.after_variance), FormatDuration(diff_.after.duration_ns)));
    sink_(absl::StrFormat("change   %s%s a second, %s\n", Change(whole), ChangeError(whole), Share(whole)));
    sink_(HiddenLine(diff_));
  }

  void WriteLabels(size_t limit) {
    const bool has_errors = diff_.ChangeError(diff_.Whole()) > 0;
    const auto error = [has_errors](std::string_view text) {
      return has_errors ? " " + RightCell(text, kChangeErrorColumns) : "";
    };
    sink_(absl::StrFormat("\n%11s%s %9s %10s %10s  %s\n", "CHANGE", error("±"), "SHARE", "BEFORE", "AFTER", Title()));
    const size_t count = std::min(limit, diff_.labels.size());
    for (size_t i = 0; i < count; ++i) {
      const DiffLine& line = diff_.labels[i];
      sink_(absl::StrFormat("%11s%s %9s %10s %10s  %s\n", Change(line), error(ErrorOfRate(diff_.ChangeError(line))),
                            Share(line), Before(line), After(line),
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
      sink_(absl::StrFormat("#%d  %s%s a second, %s  before %s, after %s\n", count, Change(line), ChangeError(line),
                            Share(line), Before(line), After(line)));
      WriteFrames(line.name);
    }
    if (count > limit) sink_(absl::StrCat("not shown: ", count - limit, "\n"));
  }

 private:
  std::string Rate(double per_second) const {
    const double amount = std::abs(per_second);
    return IsTime(diff_.options.value) ? FormatDuration(Rounded(amount)) : absl::StrFormat("%.1f", amount);
  }
  // " ±30.0 ms", in a second; "" where there is none.
  std::string Error(const DiffSide& side, double variance) const {
    return Behind(ErrorOfRate(side.PerSecond(1) * std::sqrt(variance)));
  }
  std::string ChangeError(const DiffLine& line) const { return Behind(ErrorOfRate(diff_.ChangeError(line))); }
  std::string ErrorOfRate(double per_second) const { return per_second > 0 ? "±" + Rate(per_second) : ""; }
  static std::string Behind(const std::string& text) { return text.empty() ? "" : " " + text; }
  // Processes go by their names, which are those of programs.
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

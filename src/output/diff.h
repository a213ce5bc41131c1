// What differs between two recordings: what each stack and each value of a label had in either of them. They are
// compared by names, since pids and addresses are of one run, and by what they had in a second, since recordings differ
// in length. Plain data, and pure functions.
#ifndef OFFCPU_OUTPUT_DIFF_H_
#define OFFCPU_OUTPUT_DIFF_H_

#include <cstdint>
#include <string>
#include <vector>

#include "labels/row_value.h"
#include "profile/named_profile.h"
#include "tables/label_table.h"

namespace offcpu {

struct DiffOptions {
  RowValue value = RowValue::kOffCpu;
  TableBy by;             // without a label: programs, since pids are of one run
  bool hide_idle = true;  // without waits for work (classify/idle.h)
};

// One of the two recordings.
struct DiffSide {
  uint64_t start_unix_ns = 0;
  uint64_t duration_ns = 0;  // more than 0
  uint64_t total = 0;        // of the value, in all that is shown
  double total_variance = 0;
  uint64_t hidden_ns = 0;  // waits for work that are not

  double PerSecond(uint64_t amount) const;
};

struct DiffLine {
  std::string name;  // the value of a label; or a stack, as folded.h writes it
  uint64_t before = 0;
  uint64_t after = 0;
  // 0 if neither is a sample; see VarianceOf in labels/row_error.h.
  double before_variance = 0;
  double after_variance = 0;
};

struct ProfileDiff {
  DiffOptions options;
  DiffSide before;
  DiffSide after;
  std::vector<DiffLine> labels;  // what changed most comes first, as in the next
  std::vector<DiffLine> stacks;

  // In a second; below 0 if it shrank.
  double Change(const DiffLine& line) const { return after.PerSecond(line.after) - before.PerSecond(line.before); }
  // The standard error of that: two recordings sample independently, so variances add up.
  double ChangeError(const DiffLine& line) const;
  DiffLine Whole() const;  // of all that is shown; without a name
};

// Names of threads and programs that differ in a number alone are one (row_groups.h).
ProfileDiff DiffOf(NamedProfile before, NamedProfile after, const DiffOptions& options);

}  // namespace offcpu

#endif  // OFFCPU_OUTPUT_DIFF_H_

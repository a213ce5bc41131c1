// The time of a profile by one label of its rows: by control group, by cause, by thread name. Pure functions.
#ifndef OFFCPU_OUTPUT_LABEL_TABLE_H_
#define OFFCPU_OUTPUT_LABEL_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "output/byte_sink.h"
#include "output/row_labels.h"
#include "output/row_value.h"
#include "symbolize/named_profile.h"

namespace offcpu {

// By its name; InvalidArgument that lists the names there are.
absl::StatusOr<RowLabel> ParseRowLabel(const std::string& name);

// The values that have most of `value`, `limit` lines. `hide_idle`: without waits for work that are marked (idle.h),
// unless that is what is asked for.
void WriteLabelTable(const NamedProfile& profile, RowLabel label, RowValue value, bool hide_idle, size_t limit,
                     ByteSink sink);

// "cgroup=/system.slice/*": rows whose label is like that.
struct LabelFilter {
  RowLabel label;
  std::string pattern;
};
absl::StatusOr<LabelFilter> ParseLabelFilter(const std::string& text);

// Leaves out rows that a filter does not let through; of several filters of one label, one has to. Figures of the
// whole recording (intervals, losses, the ledger) stay.
void KeepRows(const std::vector<LabelFilter>& filters, NamedProfile* profile);

}  // namespace offcpu

#endif  // OFFCPU_OUTPUT_LABEL_TABLE_H_

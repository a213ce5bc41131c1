// Rows of a profile by what their labels say, as a user asks for them. Pure functions.
#ifndef OFFCPU_LABELS_LABEL_FILTER_H_
#define OFFCPU_LABELS_LABEL_FILTER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "labels/row_labels.h"
#include "profile/named_profile.h"

namespace offcpu {

// "cgroup=/system.slice/*": rows whose label is like that. A cause may be a family ("lock") or one cause of it
// ("mutex").
struct LabelFilter {
  RowLabel label;
  std::string pattern;
};
absl::StatusOr<LabelFilter> ParseLabelFilter(const std::string& text);

// Leaves out rows that a filter does not let through; of several filters of one label, one has to. It leaves out
// threads of the ledger by what that says of them: their process, number and name. Figures of the whole recording
// (intervals, losses) stay.
void KeepRows(const std::vector<LabelFilter>& filters, NamedProfile* profile);

}  // namespace offcpu

#endif  // OFFCPU_LABELS_LABEL_FILTER_H_

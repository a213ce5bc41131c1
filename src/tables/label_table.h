// The time of a profile by one label of its rows: by control group, by cause, by thread name. Pure functions.
#ifndef OFFCPU_TABLES_LABEL_TABLE_H_
#define OFFCPU_TABLES_LABEL_TABLE_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "bytes/byte_sink.h"
#include "labels/row_labels.h"
#include "profile/named_profile.h"
#include "tables/table.h"

namespace offcpu {

// What a table is by, as a user asks for it.
struct TableBy {
  RowsApart apart = RowsApart::kPrograms;
  std::optional<RowLabel> label;   // none: a table of what is kept apart
  bool is_without_digits = false;  // names that differ in a number alone are one
};

// "process", "command", "thread", or the name of a label; InvalidArgument that lists those.
absl::StatusOr<TableBy> ParseTableBy(const std::string& name);

// "cause", "thread": what the label is, as a user asks for it. Without one it is the process.
std::string_view LabelsName(const TableBy& by);

// The sums of each value of the label. `rows`: those of the profile that are to be shown (classify/idle.h).
struct LabelSums {
  std::string value;
  RowSums sums;
};
std::vector<LabelSums> SumByLabel(const NamedProfile& profile, std::span<const NamedRow> rows, const TableBy& by);

// The values of the label that have most of `options.value`.
void WriteLabelTable(const NamedProfile& profile, std::span<const NamedRow> rows, const TableBy& by,
                     const TableOptions& options, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_LABEL_TABLE_H_

// The rows of a profile as a page has them: labels and stacks by number, those that look the same added up, and their
// times; or the rows of two profiles that are compared. Pure functions.
#ifndef OFFCPU_HTML_PAGE_ROWS_H_
#define OFFCPU_HTML_PAGE_ROWS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "html/stack_tree.h"
#include "labels/row_labels.h"
#include "profile/named_profile.h"
#include "profile/time_table.h"

namespace offcpu {

struct PageRow {
  uint32_t stack = 0;  // nodes of the tree
  uint32_t waker = 0;
  uint32_t step = 0;                                 // of the tree, too: where in the source the stack is
  std::array<uint32_t, kRowLabelCount> labels = {};  // indices into PageRows::values
  RowSums sums;
  RowSums before;  // of the earlier of two profiles; else all 0
};

struct PageRows {
  std::vector<PageRow> rows;
  std::array<std::vector<uint32_t>, kRowLabelCount> values;  // strings of the tree's; the first of each is ""
  std::optional<TimeTable> times;                            // by row, if the profile has them
  size_t pruned = 0;                                         // rows of the profile that have lost their stacks
};

// Fills the tree with what the rows need. The rows with the longest times keep their stacks.
PageRows RowsOf(const NamedProfile& profile, size_t max_stacks, StackTree& tree);

// Rows are compared by names, which should have no numbers in them (tables/row_groups.h): what is of one run alone, as
// pids are, is no label here. A row keeps its stack in both profiles or in neither, by its time in a second of the one
// in which it has more of it.
PageRows RowsOfBoth(const NamedProfile& before, const NamedProfile& after, size_t max_stacks, StackTree& tree);

}  // namespace offcpu

#endif  // OFFCPU_HTML_PAGE_ROWS_H_

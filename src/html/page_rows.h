// The rows of a profile as a page has them: labels and stacks by number, and those that look the same added up.
#ifndef OFFCPU_HTML_PAGE_ROWS_H_
#define OFFCPU_HTML_PAGE_ROWS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "html/stack_tree.h"
#include "labels/row_labels.h"
#include "profile/named_profile.h"

namespace offcpu {

struct PageRow {
  uint32_t stack = 0;  // nodes of the tree
  uint32_t waker = 0;
  std::array<uint32_t, kRowLabelCount> labels = {};  // indices into PageRows::values
  RowSums sums;
};

struct PageRows {
  std::vector<PageRow> rows;
  std::array<std::vector<uint32_t>, kRowLabelCount> values;  // strings of the tree's; the first of each is ""
  size_t pruned = 0;                                         // rows of the profile that have lost their stacks
};

// Fills the tree with what the rows need.
PageRows RowsOf(const NamedProfile& profile, size_t max_stacks, StackTree& tree);

}  // namespace offcpu

#endif  // OFFCPU_HTML_PAGE_ROWS_H_

// What a page knows of a profile, or of two that it compares, as bytes: a header in JSON and columns of numbers.
//
//   "OFFCPU1\n", the length of the header in 4 bytes, the header, and then, each at a multiple of 8 bytes, the columns
//   in the order of the header's "columns": {"name", "bytes": of one number, "count"}. Numbers are little-endian.
//
// Header: "host", "start_unix_ns" (digits), "duration_ns", "value" (that is shown first), "samples" (there are some),
// "hide_idle", "live", "pruned", "summary" (text for a reader), "source_links": [{"prefix", "url"}] (source_link.h),
// "strings", "labels": [{"name", "values": [index of string]}]. "times": {"column_ns", "begin_ns" (digits, since the
// start)}: the time buckets, if they are known; not if it compares. "unsampled_ns": what waits of which none was
// sampled may last together, at most (0: all were sampled). If it compares, all that is of the later profile, and
// "before" has "host", "start_unix_ns", "duration_ns" and "summary" of the earlier one.
//
//   frame.name, frame.module, frame.kind      an entry for each function: two strings, and a FrameClass
//   place.file, place.line, place.start       places in the source: a string, the line, and that where the function
//                                             begins (0: not known). Place 0 is none
//   node.up, node.frame, node.inlined         the tree of all stacks, outermost first. A node's parent is `up` before
//                                             it; node 0 is the root, and its frame says nothing. `inlined` is 1 where
//                                             the function was inlined in all stacks
//   step.up, step.place                       in the same way, the tree of the places of the frames of stacks, which
//                                             their paths meet at the leaf: the outermost frames may lack a step
//   row.stack, row.waker                      nodes: where the row waits, the kernel's frames below the user's, and who
//                                             woke it, the way back from where that was done (0: not known)
//   row.step                                  the step of the leaf of row.stack (0: no place is known). 0 if it
//   compares label.NAME                                by row: index into the label's "values", whose first is "",
//   without it sum.NAME                                  by row: the figures that kRowValues has, in 8 bytes, and
//   max_ns error.NAME                                by row, of a sample: standard errors of count, time, blocked and
//   runnable,
//                                             in 8 bytes; and `draws`, on which they are based
//   before_error.NAME                         the same of the earlier profile, if it compares
//   time.slices                               by row: how many time buckets it has
//   time.column, time.NAME                    of the buckets of one row after the other, by number: what of the row's
//                                             figures lies in that bucket; all of them add up to the row's
//   before.NAME                               by row: the same of the earlier profile, without max_ns, if it compares
//
// Rows whose stacks have the same names and places, and whose labels are the same, are one. Sums add up to those of the
// profile. Names of targets are made printable (bytes/utf8.h); code that shows them must still not take them for
// markup.
#ifndef OFFCPU_HTML_PAGE_DATA_H_
#define OFFCPU_HTML_PAGE_DATA_H_

#include <cstddef>
#include <string>
#include <vector>

#include "html/source_link.h"
#include "labels/row_value.h"
#include "profile/named_profile.h"

namespace offcpu {

struct PageOptions {
  RowValue value = RowValue::kOffCpu;  // that is shown first
  bool hide_idle = true;               // at first: all are in the page
  // The rows with the longest times keep their stacks. All others have the stack "[pruned]", and their labels.
  size_t max_stacks = 100'000;
  bool live = false;  // the page is the service's: it says where to get another one, and the profile as a file
  std::vector<SourceLink> source_links;  // the first one that fits
};

std::string PageData(const NamedProfile& profile, const PageOptions& options);

// What is the same by its names is one; names should have no numbers in them (tables/row_groups.h).
std::string PageDataOfBoth(const NamedProfile& before, const NamedProfile& after, const PageOptions& options);

}  // namespace offcpu

#endif  // OFFCPU_HTML_PAGE_DATA_H_

// The comments of our pprof files: a mark that says that a file is one of ours, the host, and the counters of the
// recording with what was lost, for people and for `offcpu report`. pprof prints them above its tables, so they are
// few.
//
//   offcpu recording 2, start 1790000000123456789       the version of this form, nanoseconds since 1970
//   host: web1
//   counters: intervals 5759, walk_ends complete 5756   fields of ProfileStats by their names, as many as a line has
//                                                       room for; none is 0. Version 1 had one a comment
//   lost: budget: 3 times, 1500 ns                      each of ProfileStats::losses
//   accuracy: 3.31 s ±4 % off the CPU; waits below ...  of a sample, for people: all of the time with its standard
//                                                       error, and how far off rows may be
//   idle: told                                          a wait for work has the label that says so, and others do not
#ifndef OFFCPU_PPROF_PPROF_COMMENTS_H_
#define OFFCPU_PPROF_PPROF_COMMENTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "profile/named_profile.h"

namespace offcpu {

std::vector<std::string> PprofComments(const NamedProfile& profile);

// Fills in the start, the host, the counters and whether waits for work are marked. Comments that are none of ours are
// ignored. InvalidArgument if the mark is missing, or is there twice: recordings that were merged into one file have no
// counters that are right.
absl::Status ReadPprofComments(const std::vector<std::string_view>& comments, NamedProfile& profile);

}  // namespace offcpu

#endif  // OFFCPU_PPROF_PPROF_COMMENTS_H_

// What ProfileStats counts, by the names that files give it. Its losses are apart: they have names of their own.
#ifndef OFFCPU_LABELS_PROFILE_COUNTERS_H_
#define OFFCPU_LABELS_PROFILE_COUNTERS_H_

#include <cstddef>

#include "profile/profile.h"

namespace offcpu {

template <typename Enum>
std::string_view NameAt(size_t index) {
  return Name(static_cast<Enum>(index));
}

// Calls visit(name, counter) with a reference to each counter; or of counters that are one for each value of an enum,
// visit(name, counters, name_at) with the array of them and a function that names each index.
template <typename Stats, typename Visit>
void VisitCounters(Stats& stats, const Visit& visit) {
  visit("intervals", stats.intervals);
  visit("cookies", stats.cookies);
  visit("captures", stats.captures);
  visit("capture_ns", stats.capture_ns);
  visit("capture_longest_ns", stats.capture_longest_ns);
  visit("kernel_stacks", stats.kernel_stacks);
  visit("walked_at_switch", stats.walked_at_switch);
  visit("summed_at_switch", stats.summed_at_switch);
  visit("proven_walks", stats.proven_walks);
  visit("walk_misses", stats.walk_misses, NameAt<WalkMiss>);
  visit("told_rows", stats.told_rows);
  visit("told_stacks", stats.told_stacks);
  visit("live_stacks", stats.live_stacks);
  visit("walks", stats.walks);
  visit("processes", stats.processes);
  visit("walk_ends", stats.walk_ends, NameAt<EndReason>);
  visit("frames_by_source", stats.frames_by_source, NameAt<FrameSource>);
  visit("complete_walks_by_source", stats.complete_walks_by_source, NameAt<FrameSource>);
  visit("sample_ns", stats.sample_ns);
  visit("sample_most_ns", stats.sample_most_ns);
  visit("not_drawn", stats.not_sampled);
  visit("slept_throughout", stats.slept_throughout);
  visit("oncpu_period_ns", stats.oncpu_period_ns);
  visit("oncpu_samples", stats.oncpu_samples);
  visit("suspended_ns", stats.suspended_ns);
  visit("clock_forward_ns", stats.clock_forward_ns);
  visit("clock_back_ns", stats.clock_back_ns);
  visit("own_programs_ns", stats.own_programs_ns);
  visit("own_process_ns", stats.own_process_ns);
  visit("own_memory_bytes", stats.own_memory_bytes);
  visit("host_cpu_ns", stats.host_cpu_ns);
  visit("cpu_budget_ppm", stats.cpu_budget_ppm);
}

}  // namespace offcpu

#endif  // OFFCPU_LABELS_PROFILE_COUNTERS_H_

// What the BPF programs put into rings that nobody empties, and count, while a target runs: nothing comes between the
// programs and the test. Needs root.
#ifndef OFFCPU_TESTS_DEEP_UNDRAINED_H_
#define OFFCPU_TESTS_DEEP_UNDRAINED_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "bpf_programs/events.h"
#include "bpf_programs/programs.h"
#include "recorder/record_config.h"
#include "tests/harness/harness.h"

namespace offcpu::integration {

struct Undrained {
  bool ok = false;
  Counters counters = {};
  std::vector<IntervalEvent> intervals;
  std::vector<SampleEvent> samples;
  uint64_t recorded_ns = 0;  // wall-clock time
  // What this process, which is never recorded, took while the programs recorded.
  uint64_t own_cpu_ns = 0;
  uint64_t own_stretches = 0;  // on a CPU

  const wire_counter& counter(wire_counter_id id) const { return counters[id]; }
};

// Records `target` from before its run until after it. `load` makes the programs and may do more around that.
using LoadPrograms = std::function<absl::StatusOr<std::unique_ptr<Programs>>()>;
Undrained RecordUndrained(const LoadPrograms& load, Target& target);

// The usual way of making them.
absl::StatusOr<std::unique_ptr<Programs>> LoadFor(const RecordConfig& config);

}  // namespace offcpu::integration

#endif  // OFFCPU_TESTS_DEEP_UNDRAINED_H_

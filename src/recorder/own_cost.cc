#include "recorder/own_cost.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <istream>
#include <limits>
#include <string>

#include "bpf_programs/counters.h"
#include "bpf_programs/programs.h"
#include "recorder/clocks.h"
#include "recorder/self_usage.h"

namespace offcpu {
namespace {

uint64_t ReadSwitches() {
  uint64_t switches = 0;
  std::ifstream stat("/proc/stat");
  for (std::string word; stat >> word;) {
    if (word == "ctxt") stat >> switches;
    stat.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return switches;
}

uint64_t Since(uint64_t before, uint64_t now) { return now - std::min(before, now); }

uint64_t SwitchesSince(const CostReading& before, const CostReading& now) {
  return before.switches == 0 ? 0 : Since(before.switches, now.switches);
}

uint64_t CapturesAtOnceNs(const CostReading& before, const CostReading& now) {
  const uint64_t captures = Since(before.captures, now.captures);
  const uint64_t within = std::min(captures, Since(before.captures_at_once, now.captures_at_once));
  return captures == 0 ? 0 : Since(before.capture_ns, now.capture_ns) / captures * within;
}

// By the kernel, if it has measured all the time: then every switch of the host is a run.
uint64_t MeasuredNs(const CostReading& before, const CostReading& now) {
  const uint64_t runs = Since(before.runs, now.runs);
  if (runs == 0 || runs < SwitchesSince(before, now) / 10 * 9) return 0;
  return Since(before.run_ns, now.run_ns);
}

uint64_t RecordedNs(const CostReading& before, const CostReading& now) {
  return Since(before.times.recorded_ns, now.times.recorded_ns);
}

// On-CPU samples are not timed: they may interrupt what times itself. A sample takes about what a wait takes.
uint64_t SamplesNs(const CostReading& before, const CostReading& now) {
  const uint64_t waits = Since(before.times.waits, now.times.waits);
  return waits == 0 ? 0 : RecordedNs(before, now) / waits * Since(before.samples, now.samples);
}

uint64_t TimedNs(const CostReading& before, const CostReading& now) {
  return Since(before.times.all_ns, now.times.all_ns) + SamplesNs(before, now);
}

double CpuSeconds(uint64_t ns) { return static_cast<double>(ns) / 1e9; }

uint64_t CapturesNs(const CostReading& before, const CostReading& now) {
  return Since(before.capture_ns, now.capture_ns) + Since(before.request_ns, now.request_ns);
}

}  // namespace

CostReading ReadCost(const Programs& programs, const ThreadTimes& threads) {
  const Counters counters = programs.ReadCounters();
  const ProgramRuns runs = programs.ReadRuns();
  const SelfUsage self = MeasureSelf();
  const uint64_t captures = counters[WIRE_COUNT_CAPTURE_TIME].count;
  const uint64_t at_once = std::min(captures, counters[WIRE_COUNT_COPIED_AT_ONCE].count);
  CostReading reading = {.at_ns = ReadClocks().monotonic_ns,
                         .process_ns = self.cpu_ns,
                         .threads_ns = threads.all_ns,
                         .events_ns = threads.events_ns,
                         .capture_ns = CaptureNs(counters),
                         .request_ns = (captures - at_once) * programs.request_ns(),
                         .captures = captures,
                         .captures_at_once = at_once,
                         .switches = ReadSwitches(),
                         .samples = counters[WIRE_COUNT_SAMPLE].count,
                         .times = programs.ReadTimes(),
                         .run_ns = runs.ns,
                         .runs = runs.switches,
                         .users = {},
                         .resident_bytes = self.resident_bytes};
  for (const wire_user& user : programs.ReadUsers()) {
    reading.users.push_back(
        {.waits = user.waits, .captures = user.captures, .left_out = user.left_out, .lifecycles = user.lifecycles});
  }
  return reading;
}

OwnCost CostBetween(const CostReading& before, const CostReading& now) {
  const uint64_t measured_ns = MeasuredNs(before, now);
  const uint64_t programs_ns = measured_ns != 0 ? measured_ns : TimedNs(before, now);
  return {.programs_ns = Since(CapturesAtOnceNs(before, now), programs_ns),
          .captures_ns = CapturesNs(before, now),
          .process_ns = Since(before.process_ns, now.process_ns),
          .threads_ns = Since(before.threads_ns, now.threads_ns)};
}

WaitCosts WaitCostsBetween(const CostReading& before, const CostReading& now) {
  return {.programs = CpuSeconds(Since(CapturesAtOnceNs(before, now), RecordedNs(before, now))),
          .captures = CpuSeconds(CapturesNs(before, now)),
          .worker = CpuSeconds(Since(before.events_ns, now.events_ns))};
}

std::vector<UserWaits> UsersBetween(const CostReading& before, const CostReading& now) {
  std::vector<UserWaits> users;
  for (size_t i = 0; i < now.users.size(); ++i) {
    users.push_back({.waits = Since(before.users[i].waits, now.users[i].waits),
                     .captures = Since(before.users[i].captures, now.users[i].captures),
                     .left_out = Since(before.users[i].left_out, now.users[i].left_out),
                     .lifecycles = Since(before.users[i].lifecycles, now.users[i].lifecycles)});
  }
  return users;
}

void AddCost(const OwnCost& from, OwnCost& to) {
  to.programs_ns += from.programs_ns;
  to.captures_ns += from.captures_ns;
  to.process_ns += from.process_ns;
  to.threads_ns += from.threads_ns;
}

}  // namespace offcpu

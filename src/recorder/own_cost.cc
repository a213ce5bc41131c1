#include "recorder/own_cost.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <istream>
#include <limits>
#include <string>

#include "capture/counters.h"
#include "capture/programs.h"
#include "recorder/clocks.h"
#include "recorder/self_usage.h"

namespace offcpu {
namespace {

// What one of each takes of a CPU, in nanoseconds, as scripts/bench measured it on a machine where a switch takes 2,073
// without a recorder: differences of "extra ns a switch". A switch there is one interval, and with --wakers one wake.
// `offcpu record -p 1` costs as much as the default there, within the noise: it is the calls of the programs.
constexpr uint64_t kSwitchNs = 323;             // offcpu record
constexpr uint64_t kDrawnNs = 766 - kSwitchNs;  // offcpu record --sample 0: the stacks and the sum or the record
constexpr uint64_t kWakeNs = 2081 - kSwitchNs;  // offcpu record --wakers
constexpr uint64_t kSampleNs = kDrawnNs;        // the same is done; --oncpu 99 is too rare to show

// Of /proc/stat.
struct HostSums {
  uint64_t busy_ns = 0;
  uint64_t switches = 0;
};

// After "cpu": user, nice, system, idle, iowait, irq, softirq; what follows is others' or is in these already.
uint64_t BusyTicks(std::istream& stat) {
  constexpr int kFigures = 7;
  constexpr int kIdle = 3;
  constexpr int kIoWait = 4;
  uint64_t busy = 0;
  for (int i = 0; i < kFigures; ++i) {
    uint64_t ticks = 0;
    stat >> ticks;
    if (i != kIdle && i != kIoWait) busy += ticks;
  }
  return busy;
}

HostSums ReadHostSums() {
  const auto tick_ns = 1'000'000'000 / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  HostSums sums;
  std::ifstream stat("/proc/stat");
  for (std::string word; stat >> word;) {
    if (word == "cpu") sums.busy_ns = BusyTicks(stat) * tick_ns;
    if (word == "ctxt") stat >> sums.switches;
    stat.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return sums;
}

uint64_t Since(uint64_t before, uint64_t now) { return now - std::min(before, now); }

uint64_t SwitchesSince(const CostReading& before, const CostReading& now) {
  return before.switches == 0 ? 0 : Since(before.switches, now.switches);
}

// By the kernel, if it has measured all the time: then every switch of the host is a run.
uint64_t MeasuredNs(const CostReading& before, const CostReading& now) {
  const uint64_t runs = Since(before.runs, now.runs);
  if (runs == 0 || runs < SwitchesSince(before, now) / 10 * 9) return 0;
  const uint64_t captures = Since(before.captures, now.captures);
  const uint64_t within = std::min(captures, Since(before.captures_at_once, now.captures_at_once));
  const uint64_t captures_ns = captures == 0 ? 0 : Since(before.capture_ns, now.capture_ns) / captures * within;
  return Since(captures_ns, Since(before.run_ns, now.run_ns));
}

uint64_t CountedNs(const CostReading& before, const CostReading& now, bool wakers) {
  const uint64_t drawn = Since(before.drawn, now.drawn);
  const uint64_t waits = drawn + Since(before.not_drawn, now.not_drawn);
  return kSwitchNs * std::max(waits, SwitchesSince(before, now)) + (wakers ? kWakeNs : 0) * waits + kDrawnNs * drawn +
         kSampleNs * Since(before.samples, now.samples);
}

}  // namespace

CostReading ReadCost(const Programs& programs, uint64_t intervals, uint64_t threads_ns) {
  const Counters counters = programs.ReadCounters();
  const ProgramRuns runs = programs.ReadRuns();
  const SelfUsage self = MeasureSelf();
  const HostSums host = ReadHostSums();
  const uint64_t captures = counters[WIRE_COUNT_CAPTURE_TIME].count;
  const uint64_t at_once = std::min(captures, counters[WIRE_COUNT_COPIED_AT_ONCE].count);
  return {.at_ns = ReadClocks().monotonic_ns,
          .process_ns = self.cpu_ns,
          .threads_ns = threads_ns,
          .capture_ns = CaptureNs(counters),
          .request_ns = (captures - at_once) * programs.request_ns(),
          .captures = captures,
          .captures_at_once = at_once,
          .busy_ns = host.busy_ns,
          .switches = host.switches,
          // What found no room in the ring had cost as much.
          .drawn =
              intervals + counters[WIRE_COUNT_INTERVAL_RING_FULL].count + counters[WIRE_COUNT_INTERVAL_RING_BUSY].count,
          .not_drawn = NotDrawn(counters),
          .samples = counters[WIRE_COUNT_SAMPLE].count,
          .run_ns = runs.ns,
          .runs = runs.switches,
          .resident_bytes = self.resident_bytes};
}

OwnCost CostBetween(const CostReading& before, const CostReading& now, bool wakers) {
  const uint64_t measured_ns = MeasuredNs(before, now);
  return {.programs_ns = measured_ns != 0 ? measured_ns : CountedNs(before, now, wakers),
          .captures_ns = Since(before.capture_ns, now.capture_ns) + Since(before.request_ns, now.request_ns),
          .process_ns = Since(before.process_ns, now.process_ns),
          .threads_ns = Since(before.threads_ns, now.threads_ns)};
}

void AddCost(const OwnCost& from, OwnCost& to) {
  to.programs_ns += from.programs_ns;
  to.captures_ns += from.captures_ns;
  to.process_ns += from.process_ns;
  to.threads_ns += from.threads_ns;
}

}  // namespace offcpu

#include "profiler/drops.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

struct NamedCounter {
  wire_counter_id id;
  const char* name;
  bool is_loss;
};

// In the order in which they are shown. Those without a name tell how things were done, not what was lost.
constexpr NamedCounter kNames[] = {
    {WIRE_COUNT_INTERVAL_RING_FULL, "interval ring full", true},
    {WIRE_COUNT_INTERVAL_RING_BUSY, "interval ring busy", true},
    {WIRE_COUNT_NO_STORAGE, "no task storage", true},
    {WIRE_COUNT_JOINED_AWAY, "selected while off the CPU", false},
    {WIRE_COUNT_BELOW_MIN_WAIT, "shorter than --min-wait", false},
    {WIRE_COUNT_ABOVE_MAX_WAIT, "longer than --max-wait", false},
    {WIRE_COUNT_OTHER_KIND, "not of --state", false},
    {WIRE_COUNT_CLOCK_BACKWARDS, "clock went backwards", false},
    {WIRE_COUNT_KERNEL_STACK_FAILED, "kernel stack could not be taken", false},
    {WIRE_COUNT_NO_SCRATCH, "no scratch memory for a kernel stack", false},
    {WIRE_COUNT_DEFINITION_DELAYED, "kernel stack sent late", false},
    {WIRE_COUNT_CAPTURE_RING_FULL, "capture ring full", true},
    {WIRE_COUNT_CAPTURE_RING_BUSY, "capture ring busy", true},
    {WIRE_COUNT_CAPTURE_ANSWER_LOST, "capture failed and could not say so", true},
    {WIRE_COUNT_STACK_UNKNOWN, "mapping of a stack not found: one page copied", false},
    {WIRE_COUNT_CODE_UNKNOWN, "capture whose code could not be told", false},
    {WIRE_COUNT_MAPPINGS_BUDGET, "mappings not looked at: budget", false},
    {WIRE_COUNT_SWITCHED_OFF, "captures of a process switched off for a while", true},
    {WIRE_COUNT_LIFECYCLE_LOST, "exec or exit not reported", false},
    {WIRE_COUNT_GONE_AT_END, "ended before its open wait was listed", true},
    {WIRE_COUNT_ACCOUNT_LOST, "account of a thread lost", true},
    {WIRE_COUNT_NOT_LISTED, "waiting thread not listed: no buffer", true},
    {WIRE_COUNT_WAKER_UNKNOWN, "waker not known", false},
    {WIRE_COUNT_WAKER_CUT, "chain of wakers cut: no task storage", false},
    {WIRE_COUNT_NOT_FOLLOWED, "child not followed: too many", true},
    {WIRE_COUNT_SAMPLE_RING_FULL, "on-CPU sample: ring full", true},
    {WIRE_COUNT_SAMPLE_RING_BUSY, "on-CPU sample: ring busy", true},
    {WIRE_COUNT_SAMPLE_NO_STORAGE, "on-CPU sample: no task storage", true},
    {WIRE_COUNT_SAMPLE_MISSED, "on-CPU sample: missed", true},
};

}  // namespace

std::vector<Drop> NameDrops(const Programs::Counters& counters, const EventQueueStats& queue,
                            const ModuleCacheStats& modules, uint64_t oncpu_period_ns) {
  std::vector<Drop> drops;
  const auto add = [&drops](std::string reason, uint64_t count, uint64_t ns) {
    if (count != 0) drops.push_back({.reason = std::move(reason), .count = count, .ns = ns});
  };
  for (const NamedCounter& counter : kNames) add(counter.name, counters[counter.id].count, counters[counter.id].ns);
  add("queue full: intervals", queue.intervals_dropped, queue.interval_ns_dropped);
  add("queue full: captures", queue.captures_dropped, 0);
  add("queue full: on-CPU samples", queue.samples_dropped, queue.samples_dropped * oncpu_period_ns);
  for (size_t i = 1; i < modules.perf_maps_refused.size(); ++i) {
    const std::string_view why = Name(static_cast<PerfMapRefusal>(i));
    add(absl::StrCat("perf map refused: ", std::string(why)), modules.perf_maps_refused[i], 0);
  }
  add("module unreadable", modules.unreadable, 0);
  add("over its user's share of memory", modules.memory_refused, 0);
  add("executable mapping left out: too many in one process", modules.mappings_left_out, 0);
  add("module without tables: too many", modules.over_limit, 0);
  add("module without its file: too many", modules.over_file_limit, 0);
  return drops;
}

uint64_t CountLost(const Programs::Counters& counters) {
  uint64_t lost = 0;
  for (const NamedCounter& counter : kNames) {
    if (counter.is_loss) lost += counters[counter.id].count;
  }
  return lost;
}

}  // namespace offcpu

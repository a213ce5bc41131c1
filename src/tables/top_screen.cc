#include "tables/top_screen.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "bytes/units.h"
#include "bytes/utf8.h"

namespace offcpu {
namespace {

constexpr size_t kMaxFrames = 8;  // of a stack: its line is to be read at a glance
constexpr size_t kHeadLines = 3;
constexpr size_t kTitleLines = 2;    // of a table: an empty one, and the names of its columns
constexpr size_t kNameColumns = 15;  // what the kernel keeps of a thread's name
constexpr size_t kStackColumn = 45;  // where the stack begins
constexpr size_t kMinStackColumns = 24;
constexpr size_t kMinLeafColumns = 14;  // of the function of the kernel
constexpr size_t kMinNameColumns = 8;   // or a caller is not worth its place
constexpr size_t kMaxNameColumns = 60;

// Of the interval, in a second.
class Rates {
 public:
  explicit Rates(uint64_t duration_ns) : duration_ns_(static_cast<double>(duration_ns)) {}
  std::string Time(uint64_t ns) const { return FormatDuration(static_cast<uint64_t>(PerSecond(ns))); }
  std::string Count(uint64_t count) const {
    const double rate = PerSecond(count);
    return absl::StrFormat("%.*f", rate < 9.95 ? 1 : 0, rate);
  }
  std::string Value(const RowSums& sums, RowValue value) const {
    const uint64_t amount = ValueOf(sums, value);
    return IsTime(value) ? Time(amount) : Count(amount);
  }

 private:
  double PerSecond(uint64_t amount) const {
    return duration_ns_ == 0 ? 0 : static_cast<double>(amount) * 1e9 / duration_ns_;
  }
  double duration_ns_;
};

const char* Title(RowValue value) {
  switch (value) {
    case RowValue::kBlocked:
      return "BLOCKED/s";
    case RowValue::kRunnable:
      return "RUNNABLE/s";
    case RowValue::kCount:
      return "WAITS/s";
    case RowValue::kOffCpu:
    case RowValue::kCpu:
    case RowValue::kSamples:
    case RowValue::kWall:
      break;  // top shows waits only
  }
  return "OFF-CPU/s";
}

std::string LossText(const TopTable& table, const Rates& rates) {
  if (table.drops.empty()) return "lost nothing";
  uint64_t ns = 0;
  for (const Drop& drop : table.drops) ns += drop.ns;
  return absl::StrCat("lost or without a stack ", rates.Time(ns), ", most: ", table.drops.front().reason);
}

std::vector<std::string> Head(const TopTable& table, const Rates& rates, const TopScreenOptions& options) {
  const std::string slept =
      table.slept_throughout == 0 ? "" : absl::StrCat("; ", table.slept_throughout, " threads slept throughout");
  const std::string idle =
      table.idle.empty() ? ""
                         : absl::StrCat("; waiting for work ", rates.Time(TotalOf(table.idle).blocked_ns), ", hidden");
  return {absl::StrCat("offcpu top  ", table.host, "  ", options.time_of_day, "  ", FormatDuration(table.duration_ns),
                       " recorded by ", options.recorder),
          absl::StrCat("per second: ", rates.Time(table.sums.total_ns()), " off the CPU, ",
                       rates.Time(table.sums.blocked_ns), " blocked, ", rates.Time(table.sums.runnable_ns),
                       " runnable, ", rates.Count(table.sums.count), " waits"),
          absl::StrCat(table.all_processes, " processes", slept, idle, "; ", LossText(table, rates))};
}

std::string ProcessLine(const TopProcess& process, const Rates& rates) {
  const RowSums& sums = process.sums;
  return absl::StrFormat("%7d %s %10s %10s %10s %8s %9s", process.pid, Cell(process.name, kNameColumns),
                         rates.Time(sums.total_ns()), rates.Time(sums.blocked_ns), rates.Time(sums.runnable_ns),
                         rates.Count(sums.count), FormatDuration(sums.max_ns));
}

std::string FrameName(const std::string& name) {
  return Shortened(absl::StrReplaceAll(name, {{"(anonymous namespace)::", ""}}), kMaxNameColumns);
}

// As many callers as there is room for.
std::string JoinFrames(const std::vector<std::string>& frames, size_t columns) {
  std::string text;
  for (size_t i = 0; i < std::min(frames.size(), kMaxFrames); ++i) {
    const std::string before = i == 0 ? "" : " < ";
    const size_t room = columns - std::min(columns, ColumnsOf(text) + before.size());
    if (i != 0 && room < kMinNameColumns) break;
    text += before + Shortened(FrameName(frames[i]), room);
  }
  return text;
}

std::string StackText(const TopStack& stack, size_t columns) {
  const std::string kernel = "[kernel] ";
  if (stack.is_kernel) return kernel + JoinFrames(stack.frames, columns - kernel.size());
  const std::string end = " | " + Shortened(stack.waits_in, std::max(columns / 3, kMinLeafColumns));
  return JoinFrames(stack.frames, columns - ColumnsOf(end)) + end;
}

std::string StackLine(const TopStack& stack, const Rates& rates, RowValue value, size_t columns) {
  const size_t room = columns < kStackColumn + kMinStackColumns ? kMinStackColumns : columns - kStackColumn;
  return absl::StrFormat("%10s %s %7d %s %s", rates.Value(stack.sums, value), Cell(Name(stack.kind), 9), stack.pid,
                         Cell(stack.thread, kNameColumns), StackText(stack, room));
}

// Of `room` lines for both, those of the first table: half, or what it needs, or what the second leaves.
size_t Share(size_t room, size_t first, size_t second) {
  const size_t half = room / 2;
  return std::min(first, std::max(half, room - std::min(room, second)));
}

}  // namespace

std::vector<std::string> TopScreen(const TopTable& table, const TopScreenOptions& options) {
  const Rates rates(table.duration_ns);
  constexpr size_t kOther = kHeadLines + 2 * kTitleLines;
  const size_t room = options.lines - std::min(options.lines, kOther);
  const size_t processes = Share(room, table.processes.size(), table.stacks.size());
  const size_t stacks = std::min(table.stacks.size(), room - processes);

  std::vector<std::string> lines = Head(table, rates, options);
  lines.emplace_back();
  lines.push_back(absl::StrFormat("%7s %-15s %10s %10s %10s %8s %9s", "PID", "PROCESS", Title(RowValue::kOffCpu),
                                  Title(RowValue::kBlocked), Title(RowValue::kRunnable), Title(RowValue::kCount),
                                  "LONGEST"));
  for (size_t i = 0; i < processes; ++i) lines.push_back(ProcessLine(table.processes[i], rates));
  lines.emplace_back();
  lines.push_back(absl::StrFormat("%10s %-9s %7s %-15s %s", Title(options.value), "KIND", "PID", "THREAD",
                                  "WHERE < ITS CALLERS | WAITS IN"));
  for (size_t i = 0; i < stacks; ++i)
    lines.push_back(StackLine(table.stacks[i], rates, options.value, options.columns));

  if (lines.size() > options.lines) lines.resize(options.lines);
  for (std::string& line : lines) line = ForScreen(line, options.columns);
  return lines;
}

}  // namespace offcpu

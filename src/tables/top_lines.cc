#include "tables/top_lines.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bytes/units.h"
#include "labels/row_error.h"
#include "tables/columns.h"
#include "tables/error_column.h"
#include "tables/stack_line.h"

namespace offcpu {
namespace {

constexpr size_t kStackColumn = 48;  // where the stack begins
constexpr size_t kMinStackColumns = 24;

std::string LossText(const TopTable& table, const Rates& rates) {
  if (table.losses.empty()) return "lost nothing";
  uint64_t ns = 0;
  for (const Loss& loss : table.losses) ns += loss.ns;
  return absl::StrCat("lost or without a stack ", rates.Time(ns), ", most: ", table.losses.front().reason);
}

std::string StackText(const TopStack& stack, size_t columns) {
  const std::string kernel = "[kernel] ";
  if (stack.is_kernel) return kernel + StackLine(stack.frames, "", columns - kernel.size());
  return StackLine(stack.frames, stack.waits_in, columns);
}

}  // namespace

std::string Rates::Time(uint64_t ns) const { return FormatDuration(static_cast<uint64_t>(PerSecond(ns))); }

std::string Rates::Count(uint64_t count) const {
  const double rate = PerSecond(count);
  return absl::StrFormat("%.*f", rate < 9.95 ? 1 : 0, rate);
}

std::string Rates::Value(const RowSums& sums, RowValue value) const {
  const uint64_t amount = ValueOf(sums, value);
  return IsTime(value) ? Time(amount) : Count(amount);
}

const char* RateTitle(RowValue value) {
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

std::string RateTitles(bool has_errors) {
  return absl::StrFormat("%10s%s %10s %10s %8s", RateTitle(RowValue::kOffCpu), ErrorColumn(has_errors, kErrorTitle),
                         RateTitle(RowValue::kBlocked), RateTitle(RowValue::kRunnable), RateTitle(RowValue::kCount));
}

std::string RateColumns(const RowSums& sums, const Rates& rates, bool has_errors) {
  return absl::StrFormat("%10s%s %10s %10s %8s", rates.Time(sums.total_ns()),
                         ErrorColumn(has_errors, ErrorText(sums, RowValue::kOffCpu)), rates.Time(sums.blocked_ns),
                         rates.Time(sums.runnable_ns), rates.Count(sums.count));
}

std::vector<std::string> TopHead(const TopTable& table, const std::string& time_of_day, const std::string& recorder) {
  const Rates rates(table.duration_ns);
  const std::string slept =
      table.slept_throughout == 0 ? "" : absl::StrCat("; ", table.slept_throughout, " threads slept throughout");
  const std::string idle =
      table.idle.empty() ? ""
                         : absl::StrCat("; waiting for work ", rates.Time(TotalOf(table.idle).blocked_ns), ", hidden");
  const std::string unsampled = table.unsampled_most_ns == 0 ? ""
                                                             : absl::StrCat("; lines without ± lack at most ",
                                                                            FormatDuration(table.unsampled_most_ns));
  const auto with_error = [&table](const std::string& figure, RowValue value) {
    return WithError(figure, table.sums, value);
  };
  return {
      absl::StrCat("offcpu top  ", table.host, "  ", time_of_day, "  ", FormatDuration(table.duration_ns),
                   " recorded by ", recorder),
      absl::StrCat("per second: ", with_error(rates.Time(table.sums.total_ns()), RowValue::kOffCpu), " off the CPU, ",
                   rates.Time(table.sums.blocked_ns), " blocked, ", rates.Time(table.sums.runnable_ns), " runnable, ",
                   with_error(rates.Count(table.sums.count), RowValue::kCount), " waits"),
      absl::StrCat(table.all_processes, " processes", idle, "; ", LossText(table, rates), slept, unsampled)};
}

std::string PidText(int32_t pid, const std::set<int32_t>& pids) {
  return pids.size() > 1 ? absl::StrCat("x", pids.size()) : absl::StrCat(pid);
}

std::string TopStackTitle(RowValue value, bool has_errors) {
  return absl::StrFormat("%10s%s %-12s %7s %-15s %s", RateTitle(value), ErrorColumn(has_errors, kErrorTitle), "CAUSE",
                         "PID", "THREAD", "WHERE < ITS CALLERS | WAITS IN");
}

std::string TopStackLine(const TopStack& stack, const Rates& rates, RowValue value, size_t columns, bool has_errors) {
  const std::string error = ErrorColumn(has_errors, ErrorText(stack.sums, value));
  const size_t before = kStackColumn + ColumnsOf(error);
  const size_t room = columns < before + kMinStackColumns ? kMinStackColumns : columns - before;
  return absl::StrFormat("%10s%s %s %7s %s %s", rates.Value(stack.sums, value), error,
                         Cell(Shortened(stack.cause, kCauseColumns), kCauseColumns), PidText(stack.pid, stack.pids),
                         Cell(stack.thread, kThreadNameColumns), StackText(stack, room));
}

size_t ShareOfLines(size_t room, size_t first, size_t second) {
  const size_t half = room / 2;
  return std::min(first, std::max(half, room - std::min(room, second)));
}

}  // namespace offcpu

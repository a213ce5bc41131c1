#include "tables/table.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "bytes/name_numbers.h"
#include "bytes/units.h"
#include "classify/system_calls.h"
#include "classify/wait_cause.h"
#include "labels/own_function.h"
#include "labels/plumbing.h"
#include "labels/row_error.h"
#include "labels/stack_labels.h"
#include "tables/error_column.h"
#include "tables/keep_most.h"
#include "tables/stack_line.h"

namespace offcpu {
namespace {

using Rows = std::span<const NamedRow>;

constexpr size_t kLeafFrames = 3;
constexpr size_t kWakers = 3;  // of a stack
constexpr const char* kIndent = "        ";
constexpr const char* kOwnIndent = "      > ";  // before the program's own innermost function
// How many frames of a deep stack a terminal shows: few say what called it, more what it does. Those around the
// program's own function are among them, unless it is very far out.
constexpr size_t kOuterFrames = 3;
constexpr size_t kInnerFrames = 9;
constexpr size_t kMostInnerFrames = 20;
constexpr size_t kCallersOfOwn = 2;
constexpr size_t kWideColumns = 110;

// Behind the indent.
size_t RoomIn(const TableOptions& options) {
  return options.columns == kNoLimit ? kNoLimit : options.columns - std::min(options.columns, std::strlen(kIndent));
}

// Names of threads that differ in more than a number.
size_t NamesIn(const NamedProfile& profile, const RowGroup& group) {
  std::set<std::string> names;
  for (const uint32_t comm : group.comms) names.insert(WithoutDigits(profile.comms[comm]));
  return names.size();
}

struct ProcessSum {
  RowGroup group;
  ProfileRow costliest;  // stack
};

std::vector<ProcessSum> SumProcesses(const NamedProfile& profile, Rows rows, const TableOptions& options) {
  const RowsApart apart = std::min(options.apart, RowsApart::kProcesses);
  const std::vector<uint32_t> same = SameProcesses(profile, apart);
  std::vector<ProcessSum> sums(profile.processes.size());
  for (const RowGroup& stack : GroupStacks(profile, rows, apart)) {
    ProcessSum& sum = sums[same[stack.row.process]];
    const bool has_most =
        sum.group.rows.empty() || ValueOf(stack.row, options.value) > ValueOf(sum.costliest, options.value);
    if (has_most) sum.costliest = stack.row;
    for (const NamedRow* row : stack.rows) sum.group.Add(*row);
  }
  std::erase_if(sums, [](const ProcessSum& sum) { return sum.group.rows.empty(); });
  return sums;
}

// "3.31 s ±4 %"
std::string ValueText(const RowSums& sums, RowValue value) {
  return WithError(FormatValue(ValueOf(sums, value), value), sums, value);
}

// From the program's own function outwards.
std::vector<std::string> UserLeaves(const NamedUserStack& stack) {
  std::vector<std::string> user = UserLabels(stack);
  user.resize(user.size() - FunctionsBelowShown(stack));
  std::reverse(user.begin(), user.end());
  user.resize(std::min(user.size(), kLeafFrames));
  return user;
}

// "do_io < loop < main | pipe_read": with what it waited in. A terminal has as much of it as there is room for.
std::string LeafLine(const NamedProfile& profile, const ProfileRow& row, size_t columns) {
  const std::vector<std::string> user = UserLeaves(profile.user_stacks[row.user_stack]);
  const std::string kernel = KernelLeaf(KernelLabels(profile.kernel_stacks[row.kernel_stack]));
  if (columns != kNoLimit) return StackLine(user, kernel, columns);
  return absl::StrCat(absl::StrJoin(user, " < "), kernel.empty() ? "" : " | ", kernel);
}

std::string CauseText(const ProfileRow& stack, WaitCauses& causes) {
  return stack.kind == WaitKind::kRunning ? "on a CPU" : std::string(Name(causes.Of(stack)));
}

// "mutex in futex", "on a CPU in read", "on a CPU".
std::string WhatOf(const RowGroup& stack, WaitCauses& causes) {
  const ProfileRow& row = stack.row;
  if (row.kind != WaitKind::kRunning)
    return WaitLabel(stack.wait.empty() ? Name(causes.Of(row)) : stack.wait, row.syscall);
  const std::string syscall = SystemCallName(row.syscall);
  return syscall.empty() ? "on a CPU" : absl::StrCat("on a CPU in ", syscall);
}

std::string CountText(const ProfileRow& row) {
  if (IsRemainder(row)) return "for a CPU, woken to work";
  std::string samples = absl::StrFormat("%d samples", row.samples);
  if (row.count == 0 && row.samples != 0) return samples;
  const uint64_t average_ns = row.count == 0 ? 0 : row.total_ns() / row.count;
  const std::string longest =  // of a file that others have written again it is not known
      row.max_ns == 0 && row.total_ns() != 0 ? "" : absl::StrCat(", longest ", FormatDuration(row.max_ns));
  const std::string count = WithError(absl::StrCat("count ", row.count), row, RowValue::kCount);
  const std::string waits = absl::StrFormat("%s, average %s%s", count, FormatDuration(average_ns), longest);
  return row.samples == 0 ? waits : absl::StrCat(waits, ", ", samples);
}

// What called the functions that wake, of a waker's kernel stack: every one ends in them.
std::string WakingFunction(const std::vector<std::string>& labels) {
  const auto only_wakes = [](const std::string& label) { return label.find("wake") != std::string::npos; };
  if (labels.empty()) return "";
  const auto leaf = std::find_if_not(labels.rbegin(), labels.rend(), only_wakes);
  return leaf == labels.rend() ? labels.front() : *leaf;
}

// "waker (1234): write < reply | pipe_write"; the pid only of one process.
std::string WakerLine(const NamedProfile& profile, const Waker& waker, bool has_pid) {
  const std::string leaf = WakingFunction(KernelLabels(profile.kernel_stacks[waker.kernel_stack]));
  if (waker.interrupt) return absl::StrCat(std::string(kInterrupt), " | ", leaf);
  const std::string pid = has_pid ? absl::StrCat(" (", profile.processes[waker.process].key.pid, ")") : "";
  return absl::StrCat(ThreadLabel(profile.comms[waker.comm]), pid, ": ",
                      absl::StrJoin(UserLeaves(profile.user_stacks[waker.user_stack]), " < "), " | ", leaf);
}

// Waits that were ended in one way, by any number of processes.
struct WakeSum {
  RowSums sums;
  uint32_t chain = 0;               // RowKey::waker, of one of them
  std::set<std::string> with_pids;  // each way once
};

std::string ChainText(const NamedProfile& profile, uint32_t chain, bool has_pids) {
  std::string text;
  for (const Waker& waker : profile.wakers[chain - 1])
    absl::StrAppend(&text, WakerLine(profile, waker, has_pids), "\n");
  return text;
}

std::vector<WakeSum> SumWakes(const NamedProfile& profile, const RowGroup& stack) {
  std::map<std::string, WakeSum> by_text;
  for (const NamedRow* row : stack.rows) {
    if (row->waker == 0) continue;
    WakeSum& wake = by_text[ChainText(profile, row->waker, false)];
    wake.sums.Add(*row);
    wake.chain = row->waker;
    wake.with_pids.insert(ChainText(profile, row->waker, true));
  }
  std::vector<WakeSum> wakes;
  wakes.reserve(by_text.size());
  for (auto& [text, wake] : by_text) wakes.push_back(std::move(wake));
  return wakes;
}

// Writes which threads ended most of a stack's waits, and which had woken those.
void WriteWakers(const NamedProfile& profile, const RowGroup& stack, const TableOptions& options, ByteSink sink) {
  const RowValue value = options.value;
  std::vector<WakeSum> wakes = SumWakes(profile, stack);
  const size_t count = wakes.size();
  KeepMost(wakes, kWakers, [value](const WakeSum& wake) { return ValueOf(wake.sums, value); });
  const auto write = [&](const std::string& what, const std::string& who) {
    sink(absl::StrCat(kIndent, ShortenedInside(what + who, RoomIn(options)), "\n"));
  };
  for (const WakeSum& wake : wakes) {
    const WakerChain& chain = profile.wakers[wake.chain - 1];
    std::string what = absl::StrCat("woken, ", ValueText(wake.sums, value), ", by ");
    if (chain.empty()) write(what, "others");
    for (const Waker& waker : chain) {
      write(what, WakerLine(profile, waker, wake.with_pids.size() == 1));
      what = "  woken by ";
    }
  }
  if (count > wakes.size()) sink(absl::StrCat(kIndent, "woken in other ways: ", count - wakes.size(), "\n"));
}

// "server (10)", "postgres (16 processes)"
std::string WhoText(const NamedProfile& profile, const RowGroup& group) {
  const std::string name = ProgramText(profile, group);
  if (group.processes.size() > 1) return absl::StrCat(name, " (", group.processes.size(), " processes)");
  return absl::StrCat(name, " (", profile.processes[group.row.process].key.pid, ")");
}

// "thread worker", "thread worker (12)", "8 threads worker-*", and "threads worker-*" where their ids are not known.
std::string WhichThreads(const NamedProfile& profile, const RowGroup& group) {
  const std::string name = ThreadText(profile, group);
  if (group.tids.size() > 1) return absl::StrCat(group.tids.size(), " threads ", name);
  if (group.tids.size() == 1) return absl::StrCat("thread ", name, " (", group.tids.begin()->second, ")");
  return absl::StrCat(group.comms.size() > 1 ? "threads " : "thread ", name);
}

// The user frames, outermost first. On a terminal the middle of a deep stack is left out.
void WriteUserFrames(const NamedUserStack& stack, const TableOptions& options, ByteSink sink) {
  const std::vector<std::string> labels = UserLabels(stack);
  const std::optional<size_t> below = FunctionsBelowOwn(stack);
  const size_t own = below.has_value() ? labels.size() - 1 - *below : labels.size();
  const size_t inner = std::clamp(below.value_or(0) + 1 + kCallersOfOwn, kInnerFrames, kMostInnerFrames);
  const bool is_folded = options.columns != kNoLimit && labels.size() > kOuterFrames + inner + 1;
  const size_t folded = is_folded ? labels.size() - kOuterFrames - inner : 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (is_folded && i == kOuterFrames) {
      sink(absl::StrCat(kIndent, "... ", folded, " more ...\n"));
      i += folded;
    }
    sink(absl::StrCat(i == own ? kOwnIndent : kIndent, ShortenedInside(labels[i], RoomIn(options)), "\n"));
  }
}

// The kernel's frames likewise. On a terminal, those at either end that every wait has are one line.
void WriteKernelFrames(const NamedKernelStack& stack, const TableOptions& options, ByteSink sink) {
  const std::vector<std::string> labels = KernelLabels(stack);
  if (labels.empty()) return;
  size_t begin = 0;
  size_t end = labels.size();
  if (options.columns != kNoLimit) {
    while (begin < end && IsPlumbing(labels[begin])) ++begin;
    while (end > begin && IsPlumbing(labels[end - 1])) --end;
  }
  const size_t folded = labels.size() - (end - begin);
  sink(absl::StrCat(kIndent, "-- kernel",
                    folded == 0 ? "" : absl::StrCat(", ", folded, " of system call entry and scheduler left out"),
                    " --\n"));
  for (size_t i = begin; i < end; ++i) sink(absl::StrCat(kIndent, ShortenedInside(labels[i], RoomIn(options)), "\n"));
}

// One line, or two where the terminal has no room for it.
void WriteStackHead(const std::string& figures, const std::string& who, const TableOptions& options, ByteSink sink) {
  if (ColumnsOf(figures) + 2 + ColumnsOf(who) <= options.columns) return sink(absl::StrCat(figures, "  ", who, "\n"));
  sink(absl::StrCat(ShortenedInside(figures, options.columns), "\n    ", ShortenedInside(who, options.columns - 4),
                    "\n"));
}

struct ProcessLine {
  std::string name, pid, threads, off_cpu, error, blocked, runnable, on_cpu, cause;
};

// Which columns there are.
struct ProcessColumns {
  bool has_errors = false;
  bool has_samples = false;
};

// A narrow terminal has no room for all columns: what is blocked is the rest of the time, and the cause says more than
// the number of threads.
// `stack` makes the last column, which must fit into as many columns as it is given.
void WriteProcessLine(const ProcessLine& line, absl::FunctionRef<std::string(size_t)> stack,
                      const ProcessColumns& columns, const TableOptions& options, ByteSink sink) {
  const bool has_limit = options.columns != kNoLimit;
  const bool is_wide = options.columns >= kWideColumns;
  std::string text = absl::StrFormat("%-16s %8s", has_limit ? Cell(line.name, 16) : line.name, line.pid);
  if (is_wide) absl::StrAppend(&text, absl::StrFormat(" %7s", line.threads));
  absl::StrAppend(&text, absl::StrFormat(" %10s", line.off_cpu));
  text += ErrorColumn(columns.has_errors, line.error);
  if (is_wide) absl::StrAppend(&text, absl::StrFormat(" %10s", line.blocked));
  if (is_wide || !(columns.has_samples || columns.has_errors))
    absl::StrAppend(&text, absl::StrFormat(" %10s", line.runnable));
  if (columns.has_samples) absl::StrAppend(&text, absl::StrFormat(" %10s", line.on_cpu));
  absl::StrAppend(&text, "  ", Cell(Shortened(line.cause, kCauseColumns), kCauseColumns), " ");
  const size_t room = has_limit ? options.columns - std::min(options.columns, ColumnsOf(text)) : kNoLimit;
  sink(absl::StrCat(text, stack(room), "\n"));
}

}  // namespace

void WriteProcessTable(const NamedProfile& profile, Rows rows, const TableOptions& options, ByteSink sink) {
  std::vector<ProcessSum> processes = SumProcesses(profile, rows, options);
  const size_t count = processes.size();
  KeepMost(processes, options.limit,
           [&options](const ProcessSum& sum) { return ValueOf(sum.group.row, options.value); });
  const ProcessColumns columns = {.has_errors = SumOf(rows).ns_variance > 0,
                                  .has_samples = profile.stats.oncpu_period_ns != 0};
  WaitCauses causes(profile);
  const bool has_tids = std::any_of(rows.begin(), rows.end(), [](const NamedRow& row) { return row.tid != 0; });
  WriteProcessLine(
      {"PROCESS", "PID", has_tids ? "THREADS" : "NAMES", "OFF-CPU", std::string(kErrorTitle), "BLOCKED", "RUNNABLE",
       "ON-CPU", "CAUSE"},
      [](size_t room) { return Shortened("COSTLIEST STACK", room); }, columns, options, sink);
  for (const ProcessSum& sum : processes) {
    const RowGroup& group = sum.group;
    const std::string pid = group.processes.size() > 1 ? absl::StrCat(group.processes.size(), " procs")
                                                       : absl::StrCat(profile.processes[group.row.process].key.pid);
    WriteProcessLine(
        {ProgramText(profile, group), pid, absl::StrCat(has_tids ? group.tids.size() : NamesIn(profile, group)),
         FormatDuration(group.row.total_ns()), ErrorText(group.row, RowValue::kOffCpu),
         FormatDuration(group.row.blocked_ns), FormatDuration(group.row.runnable_ns), FormatDuration(group.row.cpu_ns),
         CauseText(sum.costliest, causes)},
        [&](size_t room) { return LeafLine(profile, sum.costliest, room); }, columns, options, sink);
  }
  if (count > processes.size()) sink(absl::StrCat("not shown: ", count - processes.size(), "\n"));
}

void WriteStackTable(const NamedProfile& profile, Rows rows, const TableOptions& options, ByteSink sink) {
  std::vector<RowGroup> stacks = GroupStacks(profile, rows, options.apart);
  const auto amount = [&options](const RowGroup& group) { return ValueOf(group.row, options.value); };
  KeepMost(stacks, options.limit, amount);
  const uint64_t total = Total(rows, options.value);
  WaitCauses causes(profile);
  const bool is_last_first = options.columns != kNoLimit;
  for (size_t i = 0; i < stacks.size(); ++i) {
    const size_t rank = is_last_first ? stacks.size() - 1 - i : i;
    const RowGroup& stack = stacks[rank];
    const std::string figures = absl::StrFormat("#%d  %s, %s  %s", rank + 1, ValueText(stack.row, options.value),
                                                FormatPercent(amount(stack), total), CountText(stack.row));
    WriteStackHead(
        figures, absl::StrCat(WhoText(profile, stack), ", ", WhichThreads(profile, stack), ": ", WhatOf(stack, causes)),
        options, sink);
    WriteUserFrames(profile.user_stacks[stack.row.user_stack], options, sink);
    WriteKernelFrames(profile.kernel_stacks[stack.row.kernel_stack], options, sink);
    WriteWakers(profile, stack, options, sink);
    sink("\n");
  }
}

}  // namespace offcpu

#include "tables/table.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "bytes/units.h"
#include "bytes/utf8.h"
#include "classify/system_calls.h"
#include "classify/wait_cause.h"
#include "labels/stack_labels.h"
#include "tables/keep_most.h"

namespace offcpu {
namespace {

constexpr size_t kLeafFrames = 3;
constexpr size_t kWakers = 3;  // of a stack

// By the index of a stack, that of the first with the same names.
template <typename Stack>
std::vector<uint32_t> FirstOfSameNames(const std::vector<Stack>& stacks,
                                       std::vector<std::string> (*labels)(const Stack& stack)) {
  std::vector<uint32_t> first;
  first.reserve(stacks.size());
  absl::flat_hash_map<std::string, uint32_t> index;
  for (const Stack& stack : stacks) {
    const auto next = static_cast<uint32_t>(first.size());
    first.push_back(index.try_emplace(absl::StrJoin(labels(stack), "\n"), next).first->second);
  }
  return first;
}

// Of a wait for work only the time for a CPU may be left (idle.h). It belongs to no wait that is counted.
bool IsRemainder(const ProfileRow& row) { return row.count == 0 && row.samples == 0 && row.max_ns == 0; }

// Of a row's stack: whatever it waited for, and whoever ended that.
std::pair<RowKey, bool> StackKeyOf(const ProfileRow& row) {
  RowKey key = row.key();
  key.kind = WaitKind::kOther;
  key.syscall = kNoSystemCall;
  key.waker = key.control_group = 0;
  return {key, IsRemainder(row)};
}

// The profile's rows with the kinds of wait and the system calls added up: those that took most of it stand for all.
// Samples meet a function at every instruction: those of one stack of functions are one.
std::vector<ProfileRow> SumStacks(const NamedProfile& profile) {
  const bool has_samples = profile.stats.oncpu_period_ns != 0;
  std::vector<uint32_t> user;
  std::vector<uint32_t> kernel;
  if (has_samples) {
    user = FirstOfSameNames(profile.user_stacks, UserLabels);
    kernel = FirstOfSameNames(profile.kernel_stacks, KernelLabels);
  }
  absl::flat_hash_map<std::pair<RowKey, bool>, size_t> index;
  std::vector<ProfileRow> stacks;
  std::vector<uint64_t> most_ns;  // of the row that stands for a stack
  for (ProfileRow row : profile.rows) {
    if (has_samples && row.kind == WaitKind::kRunning) {
      row.user_stack = user[row.user_stack];
      row.kernel_stack = kernel[row.kernel_stack];
    }
    const auto [it, inserted] = index.try_emplace(StackKeyOf(row), stacks.size());
    if (inserted) {
      stacks.push_back(row);
      most_ns.push_back(row.wall_ns());
      continue;
    }
    ProfileRow& stack = stacks[it->second];
    stack.Add(row);
    if (row.wall_ns() > most_ns[it->second]) {
      most_ns[it->second] = row.wall_ns();
      stack.kind = row.kind;
      stack.syscall = row.syscall;
    }
  }
  return stacks;
}

struct ProcessSum {
  uint32_t process = 0;
  std::set<uint32_t> comms;
  RowSums sums;
  ProfileRow costliest;
};

std::vector<ProcessSum> SumProcesses(const NamedProfile& profile, RowValue value) {
  std::vector<ProcessSum> processes(profile.processes.size());
  for (const ProfileRow& stack : SumStacks(profile)) {
    ProcessSum& process = processes[stack.process];
    process.process = stack.process;
    if (process.comms.empty() || ValueOf(stack, value) > ValueOf(process.costliest, value)) {
      process.costliest = stack;
    }
    process.comms.insert(stack.comm);
    process.sums.Add(stack);
  }
  std::erase_if(processes, [](const ProcessSum& process) { return process.comms.empty(); });
  return processes;
}

// "read < do_io < main": from the leaf outwards.
std::string UserLeaves(const NamedUserStack& stack) {
  std::string line;
  std::vector<std::string> user = UserLabels(stack);
  size_t shown = std::min(user.size(), kLeafFrames);
  for (size_t i = 0; i < shown; ++i) absl::StrAppend(&line, i == 0 ? "" : " < ", user[user.size() - 1 - i]);
  return line;
}

// "read < do_io < main | pipe_read": with what it waited in.
std::string LeafLine(const NamedProfile& profile, const ProfileRow& row) {
  const std::string line = UserLeaves(profile.user_stacks[row.user_stack]);
  const std::string kernel = KernelLeaf(KernelLabels(profile.kernel_stacks[row.kernel_stack]));
  return kernel.empty() ? line : absl::StrCat(line, " | ", kernel);
}

// "lock in futex", "on a CPU in read", "on a CPU".
std::string WhatOf(const ProfileRow& stack, WaitCauses& causes) {
  if (stack.kind != WaitKind::kRunning) return WaitLabel(causes.Of(stack), stack.syscall);
  const std::string syscall = SystemCallName(stack.syscall);
  return syscall.empty() ? "on a CPU" : absl::StrCat("on a CPU in ", syscall);
}

std::string CountText(const ProfileRow& row) {
  if (IsRemainder(row)) return "for a CPU, woken to work";
  std::string samples = absl::StrFormat("%d samples", row.samples);
  if (row.count == 0 && row.samples != 0) return samples;
  const uint64_t average_ns = row.count == 0 ? 0 : row.total_ns() / row.count;
  const std::string longest =  // of a file that others have written again it is not known
      row.max_ns == 0 && row.total_ns() != 0 ? "" : absl::StrCat(", longest ", FormatDuration(row.max_ns));
  const std::string waits = absl::StrFormat("count %d, average %s%s", row.count, FormatDuration(average_ns), longest);
  return row.samples == 0 ? waits : absl::StrCat(waits, ", ", samples);
}

// The rows of a stack by their wakers, those of several kinds of wait added up.
std::vector<ProfileRow> RowsByWaker(const NamedProfile& profile, const ProfileRow& stack) {
  std::map<uint32_t, ProfileRow> by_waker;
  for (const ProfileRow& row : profile.rows) {
    if (row.waker == 0 || StackKeyOf(row) != StackKeyOf(stack)) continue;
    const auto [it, inserted] = by_waker.try_emplace(row.waker, row);
    if (!inserted) it->second.Add(row);
  }
  std::vector<ProfileRow> rows;
  rows.reserve(by_waker.size());
  for (const auto& [waker, row] : by_waker) rows.push_back(row);
  return rows;
}

// What called the functions that wake, of a waker's kernel stack: every one ends in them.
std::string WakingFunction(const std::vector<std::string>& labels) {
  const auto only_wakes = [](const std::string& label) { return label.find("wake") != std::string::npos; };
  if (labels.empty()) return "";
  const auto leaf = std::find_if_not(labels.rbegin(), labels.rend(), only_wakes);
  return leaf == labels.rend() ? labels.front() : *leaf;
}

// "waker (1234): write < reply | pipe_write"
std::string LinkLine(const NamedProfile& profile, const WakerLink& link) {
  const std::string leaf = WakingFunction(KernelLabels(profile.kernel_stacks[link.kernel_stack]));
  if (link.interrupt) return absl::StrCat(std::string(kInterrupt), " | ", leaf);
  return absl::StrCat(ThreadLabel(profile.comms[link.comm]), " (", profile.processes[link.process].key.pid,
                      "): ", UserLeaves(profile.user_stacks[link.user_stack]), " | ", leaf);
}

// Who ended most of a stack's waits, and by whom he had been woken himself.
void WriteWakers(const NamedProfile& profile, const ProfileRow& stack, RowValue value, ByteSink sink) {
  std::vector<ProfileRow> rows = RowsByWaker(profile, stack);
  const size_t count = rows.size();
  KeepMost(rows, kWakers, [value](const ProfileRow& row) { return ValueOf(row, value); });
  for (const ProfileRow& row : rows) {
    const WakerChain& chain = profile.wakers[row.waker - 1];
    std::string what = absl::StrCat("woken, ", FormatValue(ValueOf(row, value), value), ", by ");
    if (chain.empty()) sink(absl::StrCat("        ", what, "others\n"));
    for (const WakerLink& link : chain) {
      sink(absl::StrCat("        ", what, LinkLine(profile, link), "\n"));
      what = "  woken by ";
    }
  }
  if (count > rows.size()) sink(absl::StrCat("        woken in other ways: ", count - rows.size(), "\n"));
}

}  // namespace

void WriteProcessTable(const NamedProfile& profile, RowValue value, size_t limit, ByteSink sink) {
  std::vector<ProcessSum> processes = SumProcesses(profile, value);
  size_t count = processes.size();
  KeepMost(processes, limit, [value](const ProcessSum& sum) { return ValueOf(sum.sums, value); });
  const bool has_samples = profile.stats.oncpu_period_ns != 0;
  sink(absl::StrFormat("%-16s %8s %7s %10s %10s %10s%s  %s\n", "PROCESS", "PID", "NAMES", "OFF-CPU", "BLOCKED",
                       "RUNNABLE", has_samples ? "     ON-CPU" : "", "COSTLIEST STACK"));
  for (const ProcessSum& sum : processes) {
    const ProcessInfo& process = profile.processes[sum.process];
    const std::string on_cpu = has_samples ? absl::StrFormat(" %10s", FormatDuration(sum.sums.cpu_ns)) : "";
    sink(absl::StrFormat("%-16s %8d %7d %10s %10s %10s%s  %s\n", Printable(process.name), process.key.pid,
                         sum.comms.size(), FormatDuration(sum.sums.total_ns()), FormatDuration(sum.sums.blocked_ns),
                         FormatDuration(sum.sums.runnable_ns), on_cpu, LeafLine(profile, sum.costliest)));
  }
  if (count > processes.size()) sink(absl::StrCat("not shown: ", count - processes.size(), "\n"));
}

void WriteStackTable(const NamedProfile& profile, RowValue value, size_t limit, ByteSink sink) {
  std::vector<ProfileRow> stacks = SumStacks(profile);
  const auto amount = [value](const ProfileRow& row) { return ValueOf(row, value); };
  KeepMost(stacks, limit, amount);
  const uint64_t total = Total(profile, value);
  WaitCauses causes(profile);
  for (size_t i = 0; i < stacks.size(); ++i) {
    const ProfileRow& stack = stacks[i];
    const ProcessInfo& process = profile.processes[stack.process];
    const std::string tid = stack.tid == 0 ? "" : absl::StrCat(" (", stack.tid, ")");
    sink(absl::StrFormat("#%d  %s, %s  %s  %s (%d), thread %s%s: %s\n", i + 1, FormatValue(amount(stack), value),
                         FormatPercent(amount(stack), total), CountText(stack), Printable(process.name),
                         process.key.pid, Printable(profile.comms[stack.comm]), tid, WhatOf(stack, causes)));
    for (const std::string& label : UserLabels(profile.user_stacks[stack.user_stack])) {
      sink(absl::StrCat("        ", label, "\n"));
    }
    const std::vector<std::string> kernel = KernelLabels(profile.kernel_stacks[stack.kernel_stack]);
    if (!kernel.empty()) sink("        -- kernel --\n");
    for (const std::string& label : kernel) sink(absl::StrCat("        ", label, "\n"));
    WriteWakers(profile, stack, value, sink);
    sink("\n");
  }
}

}  // namespace offcpu

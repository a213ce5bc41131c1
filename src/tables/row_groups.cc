#include "tables/row_groups.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_join.h"
#include "bytes/name_numbers.h"
#include "bytes/utf8.h"
#include "labels/plumbing.h"
#include "labels/stack_labels.h"

namespace offcpu {
namespace {

// Gives equal texts one number: the index of the first.
class FirstIndices {
 public:
  void Add(const std::string& text) {
    const auto next = static_cast<uint32_t>(first_.size());
    first_.push_back(index_.try_emplace(text, next).first->second);
  }
  std::vector<uint32_t> Take() { return std::move(first_); }

 private:
  absl::flat_hash_map<std::string, uint32_t> index_;
  std::vector<uint32_t> first_;
};

template <typename Stack>
std::vector<uint32_t> SameStacks(const std::vector<Stack>& stacks, std::vector<std::string> (*labels)(const Stack&)) {
  FirstIndices first;
  for (const Stack& stack : stacks) first.Add(absl::StrJoin(labels(stack), "\n"));
  return first.Take();
}

// The kernel stack up to where it calls the scheduler.
std::vector<std::string> CallersOfScheduler(const NamedKernelStack& stack) {
  std::vector<std::string> labels = KernelLabels(stack);
  while (!labels.empty() && IsSchedulerCode(labels.back())) labels.pop_back();
  return labels;
}

struct GroupKey {
  uint32_t process = 0;
  int32_t tid = 0;  // 0: threads share groups
  uint32_t comm = 0;
  uint32_t user_stack = 0;
  uint32_t kernel_stack = 0;
  bool is_remainder = false;

  bool operator==(const GroupKey&) const = default;
  template <typename H>
  friend H AbslHashValue(H h, const GroupKey& key) {
    return H::combine(std::move(h), key.process, key.tid, key.comm, key.user_stack, key.kernel_stack, key.is_remainder);
  }
};

bool IsOpen(const RowGroup& group) {
  return std::all_of(group.rows.begin(), group.rows.end(),
                     [](const NamedRow* row) { return row->kind == WaitKind::kOpen; });
}

// Puts groups of open waits into the one of those that have ended at the same place. `places`: the keys of the groups,
// with the kernel stacks up to the scheduler.
void JoinOpenWaits(const std::vector<GroupKey>& places, std::vector<RowGroup>* groups) {
  absl::flat_hash_map<GroupKey, std::vector<size_t>> ended;
  for (size_t i = 0; i < groups->size(); ++i) {
    if (!IsOpen((*groups)[i])) ended[places[i]].push_back(i);
  }
  for (size_t i = 0; i < groups->size(); ++i) {
    RowGroup& group = (*groups)[i];
    if (!IsOpen(group)) continue;
    const auto it = ended.find(places[i]);
    if (it == ended.end() || it->second.size() != 1) continue;
    for (const NamedRow* row : group.rows) (*groups)[it->second.front()].Add(*row);
    group.rows.clear();
  }
  std::erase_if(*groups, [](const RowGroup& group) { return group.rows.empty(); });
}

std::string NameOf(const std::set<std::string>& names, std::string (*folded)(std::string_view)) {
  if (names.empty()) return "";
  return Printable(names.size() == 1 ? *names.begin() : folded(*names.begin()));
}

}  // namespace

void RowGroup::Add(const NamedRow& added) {
  if (rows.empty()) {
    row = added;
    wait = added.wait;
    most_ns = added.wall_ns();
  } else {
    row.RowSums::Add(added);
    if (added.wall_ns() > most_ns) {
      static_cast<RowKey&>(row) = added.key();
      wait = added.wait;
    }
    most_ns = std::max(most_ns, added.wall_ns());
  }
  processes.insert(added.process);
  comms.insert(added.comm);
  if (added.tid != 0) tids.emplace(added.process, added.tid);
  rows.push_back(&added);
}

void LeaveOutNumbers(NamedProfile* before, NamedProfile* after) {
  std::set<std::string> programs;
  for (const NamedProfile* profile : {before, after})
    for (const ProcessInfo& process : profile->processes) programs.insert(process.name);
  for (NamedProfile* profile : {before, after}) {
    for (std::string& comm : profile->comms)
      comm = programs.contains(comm) ? WithoutNumbers(comm) : WithoutDigits(comm);
    for (ProcessInfo& process : profile->processes) process.name = WithoutNumbers(process.name);
  }
}

std::vector<uint32_t> SameComms(const NamedProfile& profile) {
  FirstIndices first;
  for (const std::string& comm : profile.comms) first.Add(WithoutDigits(comm));
  return first.Take();
}

std::string ProgramOf(const ProcessInfo& process) { return WithoutNumbers(process.name) + "\n" + process.executable; }

std::string ProgramText(const std::set<std::string>& names) { return NameOf(names, WithoutNumbers); }

std::string ThreadText(const std::set<std::string>& names) { return NameOf(names, WithoutDigits); }

std::vector<uint32_t> SameProcesses(const NamedProfile& profile, RowsApart apart) {
  FirstIndices first;
  for (size_t i = 0; i < profile.processes.size(); ++i) {
    const ProcessInfo& process = profile.processes[i];
    first.Add(apart == RowsApart::kPrograms ? ProgramOf(process) : std::to_string(i));
  }
  return first.Take();
}

std::vector<RowGroup> GroupStacks(const NamedProfile& profile, std::span<const NamedRow> rows, RowsApart apart) {
  const std::vector<uint32_t> processes = SameProcesses(profile, apart);
  const std::vector<uint32_t> comms = SameComms(profile);
  const std::vector<uint32_t> users = SameStacks(profile.user_stacks, UserLabels);
  const std::vector<uint32_t> kernels = SameStacks(profile.kernel_stacks, KernelLabels);
  const std::vector<uint32_t> callers = SameStacks(profile.kernel_stacks, CallersOfScheduler);
  absl::flat_hash_map<GroupKey, size_t> index;
  std::vector<RowGroup> groups;
  std::vector<GroupKey> places;  // parallel to groups
  for (const NamedRow& row : rows) {
    GroupKey key = {.process = processes[row.process],
                    .tid = apart == RowsApart::kThreads ? row.tid : 0,
                    .comm = comms[row.comm],
                    .user_stack = users[row.user_stack],
                    .kernel_stack = kernels[row.kernel_stack],
                    .is_remainder = IsRemainder(row)};
    const auto [it, inserted] = index.try_emplace(key, groups.size());
    if (inserted) {
      groups.emplace_back();
      key.kernel_stack = callers[row.kernel_stack];
      places.push_back(key);
    }
    groups[it->second].Add(row);
  }
  JoinOpenWaits(places, &groups);
  return groups;
}

std::string ProgramText(const NamedProfile& profile, const RowGroup& group) {
  std::set<std::string> names;
  for (const uint32_t process : group.processes) names.insert(profile.processes[process].name);
  return ProgramText(names);
}

std::string ThreadText(const NamedProfile& profile, const RowGroup& group) {
  std::set<std::string> names;
  for (const uint32_t comm : group.comms) names.insert(profile.comms[comm]);
  return ThreadText(names);
}

}  // namespace offcpu

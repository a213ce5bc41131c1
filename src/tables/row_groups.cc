#include "tables/row_groups.h"

#include <algorithm>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_join.h"
#include "bytes/name_numbers.h"
#include "bytes/utf8.h"
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

std::vector<uint32_t> SameComms(const NamedProfile& profile) {
  FirstIndices first;
  for (const std::string& comm : profile.comms) first.Add(WithoutDigits(comm));
  return first.Take();
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

std::vector<uint32_t> SameProcesses(const NamedProfile& profile, RowsApart apart) {
  FirstIndices first;
  for (size_t i = 0; i < profile.processes.size(); ++i) {
    const ProcessInfo& process = profile.processes[i];
    first.Add(apart == RowsApart::kPrograms ? WithoutNumbers(process.name) + "\n" + process.executable
                                            : std::to_string(i));
  }
  return first.Take();
}

std::vector<RowGroup> GroupStacks(const NamedProfile& profile, std::span<const NamedRow> rows, RowsApart apart) {
  const std::vector<uint32_t> processes = SameProcesses(profile, apart);
  const std::vector<uint32_t> comms = SameComms(profile);
  const std::vector<uint32_t> users = SameStacks(profile.user_stacks, UserLabels);
  const std::vector<uint32_t> kernels = SameStacks(profile.kernel_stacks, KernelLabels);
  absl::flat_hash_map<std::tuple<uint32_t, int32_t, uint32_t, uint32_t, uint32_t, bool>, size_t> index;
  std::vector<RowGroup> groups;
  for (const NamedRow& row : rows) {
    const int32_t tid = apart == RowsApart::kThreads ? row.tid : 0;
    const auto [it, inserted] = index.try_emplace({processes[row.process], tid, comms[row.comm], users[row.user_stack],
                                                   kernels[row.kernel_stack], IsRemainder(row)},
                                                  groups.size());
    if (inserted) groups.emplace_back();
    groups[it->second].Add(row);
  }
  return groups;
}

std::string ProgramText(const NamedProfile& profile, const RowGroup& group) {
  std::set<std::string> names;
  for (const uint32_t process : group.processes) names.insert(profile.processes[process].name);
  return NameOf(names, WithoutNumbers);
}

std::string ThreadText(const NamedProfile& profile, const RowGroup& group) {
  std::set<std::string> names;
  for (const uint32_t comm : group.comms) names.insert(profile.comms[comm]);
  return NameOf(names, WithoutDigits);
}

}  // namespace offcpu

#include "profile/off_cpu_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "process/container.h"
#include "profile/losses.h"

namespace offcpu {
namespace {

constexpr char kOther[] = "[other]";

void AddLoss(LossId loss, uint64_t count, uint64_t ns, ProfileStats& stats) {
  if (count != 0) stats.losses.push_back(LossOf(loss, count, ns));
}

void AddLoss(NoUserStack missing, bool of_waker, const Loss& sums, ProfileStats& stats) {
  if (sums.count == 0 || !IsLoss(missing)) return;
  stats.losses.push_back({.reason = LossName(missing, of_waker), .count = sums.count, .ns = sums.ns});
}

}  // namespace

uint32_t OffCpuTable::InternProcess(const ProcessInfo& info) {
  auto it = process_index_.find(info.key);
  if (it != process_index_.end()) {
    ProcessInfo& known = processes_[it->second];
    if (known.name.empty()) known.name = info.name;
    if (known.container.empty()) known.container = info.container;
    if (known.executable.empty()) known.executable = info.executable;
    if (known.service == ServiceNames()) known.service = info.service;
    return it->second;
  }
  auto index = static_cast<uint32_t>(process_index_.size());
  if (index >= limits_.processes) {
    ++process_overflows_;
    return OtherProcess();
  }
  processes_.push_back(info);
  process_index_.emplace(info.key, index);
  return index;
}

uint32_t OffCpuTable::InternComm(std::string_view comm) {
  std::string name(comm);
  auto it = comm_index_.find(name);
  if (it != comm_index_.end()) return it->second;
  auto index = static_cast<uint32_t>(comm_index_.size());
  if (index >= limits_.comms) {
    ++comm_overflows_;
    return OtherComm();
  }
  comms_.push_back(name);
  comm_index_.emplace(std::move(name), index);
  return index;
}

uint32_t OffCpuTable::InternWaker(const WakerChain& chain) {
  const auto it = waker_index_.find(chain);
  if (it != waker_index_.end()) return it->second;
  if (waker_index_.size() >= limits_.wakers) {
    ++waker_overflows_;
    if (wakers_.size() == waker_index_.size()) wakers_.emplace_back();
    return static_cast<uint32_t>(wakers_.size());
  }
  wakers_.push_back(chain);
  waker_index_.emplace(chain, static_cast<uint32_t>(wakers_.size()));
  return static_cast<uint32_t>(wakers_.size());
}

uint32_t OffCpuTable::InternControlGroup(std::string_view path) {
  if (path.empty()) return 0;
  std::string key(path);
  const auto it = control_group_index_.find(key);
  if (it != control_group_index_.end()) return it->second;
  if (control_group_bytes_ + sizeof(std::string) + key.size() > limits_.control_group_bytes) {
    ++control_group_overflows_;
    return 0;
  }
  control_group_bytes_ += sizeof(std::string) + key.size();
  control_groups_.push_back(key);
  control_group_index_.emplace(std::move(key), static_cast<uint32_t>(control_groups_.size()));
  return static_cast<uint32_t>(control_groups_.size());
}

uint32_t OffCpuTable::OtherProcess() {
  if (processes_.size() == process_index_.size()) processes_.push_back({.key = {}, .name = kOther, .container = {}});
  return static_cast<uint32_t>(processes_.size() - 1);
}

uint32_t OffCpuTable::OtherComm() {
  if (comms_.size() == comm_index_.size()) comms_.push_back(kOther);
  return static_cast<uint32_t>(comms_.size() - 1);
}

void OffCpuTable::Add(const ProfileRow& row, std::span<const Stretch> when) {
  Cell* cell = &overflow_;
  if (const auto known = rows_.find(row.key()); known != rows_.end()) {
    cell = &known->second;
  } else if (rows_.size() < limits_.rows) {
    cell = &rows_.try_emplace(row.key(), Cell{.sums = {}, .number = times_.AddRow()}).first->second;
  }
  cell->sums.Add(row);
  for (const Stretch& stretch : when) times_.Add(cell->number, stretch);
}

// The key of the row that stands for all that found no place.
RowKey OffCpuTable::OverflowKey(StackTable& stacks) {
  return {.process = OtherProcess(),
          .comm = OtherComm(),
          .kernel_stack = stacks.KernelOverflow(),
          .user_stack = stacks.UserOverflow(),
          .kind = WaitKind::kOther};
}

Profile OffCpuTable::Finish(StackTable& stacks, ProfileStats stats) {
  Profile profile;
  profile.rows.reserve(rows_.size() + 1);
  const uint32_t first = times_.FirstBucket();
  const auto add = [&](const RowKey& key, const Cell& cell) {
    profile.rows.push_back({key, cell.sums, TimesOf(cell.number, cell.sums, first)});
  };
  if (overflow_.sums.events() != 0) add(OverflowKey(stacks), overflow_);
  for (const auto& [key, cell] : rows_) add(key, cell);
  if (times_.buckets() != 0)
    profile.times = {.bucket_ns = times_.bucket_ns(), .begin_ns = static_cast<int64_t>(first * times_.bucket_ns())};
  for (ProfileRow& row : profile.rows) {
    row.count += static_cast<uint64_t>(std::llround(row.count_excess));
    row.count_excess = 0;
  }
  std::sort(profile.rows.begin(), profile.rows.end(),
            [](const ProfileRow& a, const ProfileRow& b) { return a.key() < b.key(); });
  profile.processes = std::move(processes_);
  profile.control_groups = std::move(control_groups_);
  FillContainers(profile);
  profile.comms = std::move(comms_);
  profile.wakers = std::move(wakers_);
  profile.stats = std::move(stats);
  profile.stats.processes = ProcessesWithRows(profile.rows);
  stacks.MoveTo(profile);
  AddLosses(stacks, profile);
  return profile;
}

std::string OffCpuTable::TimesOf(uint32_t number, const RowSums& sums, uint32_t first) const {
  return times_.Pack(number, first, static_cast<uint64_t>(std::llround(sums.count_excess)));
}

// A process that ended before it was looked at is in the container that its threads were in.
void OffCpuTable::FillContainers(Profile& profile) {
  std::vector<std::string> containers;
  for (const std::string& path : profile.control_groups) containers.push_back(ContainerIdInPath(path));
  for (const ProfileRow& row : profile.rows) {
    if (row.control_group == 0) continue;
    ProcessInfo& process = profile.processes[row.process];
    if (process.key == ProcessKey()) continue;  // "[other]" stands for many
    if (process.container.empty()) process.container = containers[row.control_group - 1];
  }
}

// Those of wakers alone have none, and "[other]" is no process. The rows are sorted.
uint64_t OffCpuTable::ProcessesWithRows(const std::vector<ProfileRow>& rows) const {
  uint64_t processes = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool is_new = i == 0 || rows[i].process != rows[i - 1].process;
    if (is_new && rows[i].process < process_index_.size()) ++processes;
  }
  return processes;
}

// Counts user stacks that are missing, of the waker itself, not of those further up.
void OffCpuTable::AddWakerLosses(Profile& profile) {
  std::array<Loss, kNoUserStackCount> missing;
  for (const ProfileRow& row : profile.rows) {
    if (row.waker == 0 || profile.wakers[row.waker - 1].empty()) continue;
    const Waker& waker = profile.wakers[row.waker - 1].front();
    Loss& loss = missing[static_cast<size_t>(profile.user_stacks[waker.user_stack].missing)];
    loss.count += row.count;
    loss.ns += row.total_ns();
  }
  for (size_t i = 0; i < missing.size(); ++i) {
    AddLoss(static_cast<NoUserStack>(i), true, missing[i], profile.stats);
  }
}

void OffCpuTable::AddLosses(const StackTable& stacks, Profile& profile) const {
  std::array<Loss, kNoUserStackCount> missing;
  Loss undefined;
  for (const ProfileRow& row : profile.rows) {
    Loss& loss = missing[static_cast<size_t>(profile.user_stacks[row.user_stack].missing)];
    loss.count += row.events();
    loss.ns += row.wall_ns();
    const KernelStack& kernel = profile.kernel_stacks[row.kernel_stack];
    if (!kernel.is_lost()) continue;
    undefined.count += row.events();
    undefined.ns += row.wall_ns();
  }
  for (size_t i = 0; i < missing.size(); ++i) {
    AddLoss(static_cast<NoUserStack>(i), false, missing[i], profile.stats);
  }
  AddWakerLosses(profile);
  AddLoss(LossId::kKernelStackUndefined, undefined.count, undefined.ns, profile.stats);
  // The time of these is in the profile, under coarser names.
  AddLoss(LossId::kRowTableFull, overflow_.sums.events(), overflow_.sums.wall_ns(), profile.stats);
  AddLoss(LossId::kUserStackTableFull, stacks.user_overflows(), 0, profile.stats);
  AddLoss(LossId::kKernelStackTableFull, stacks.kernel_overflows(), 0, profile.stats);
  AddLoss(LossId::kProcessTableFull, process_overflows_, 0, profile.stats);
  AddLoss(LossId::kCommTableFull, comm_overflows_, 0, profile.stats);
  AddLoss(LossId::kWakerTableFull, waker_overflows_, 0, profile.stats);
  AddLoss(LossId::kControlGroupTableFull, control_group_overflows_, 0, profile.stats);
}

}  // namespace offcpu

#include "profile/off_cpu_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace offcpu {
namespace {

constexpr char kOther[] = "[other]";

void AddDrop(std::string reason, uint64_t count, uint64_t ns, ProfileStats& stats) {
  if (count != 0) stats.drops.push_back({std::move(reason), count, ns});
}

// An interval of length t that was drawn with probability p = t / T stands for 1 / p intervals of its length, which
// take T. The estimates of the variances are those of Horvitz and Thompson for independent draws: (1 - p) / p^2 times
// the square of what each adds, which is 1, or t.
//
// A part of it of length a is in the sample exactly if the whole is, so it stands for a / p, which is a on average, and
// adds a to the square. What was seen of a wait before it ended has no weight: that it was seen does not depend on the
// draw, which is made at its end, and so the rest of it is right on average with the weight of the whole.
void Weigh(const Interval& interval, ProfileRow& row) {
  const uint64_t part_ns = row.total_ns();
  const uint64_t length_ns = interval.whole_ns != 0 ? interval.whole_ns : part_ns;
  if (length_ns == 0 || length_ns >= interval.sample_ns) return;
  const double probability = static_cast<double>(length_ns) / static_cast<double>(interval.sample_ns);
  const double weighed_ns = static_cast<double>(part_ns) / probability;
  row.blocked_ns = static_cast<uint64_t>(std::llround(static_cast<double>(row.blocked_ns) / probability));
  row.runnable_ns = static_cast<uint64_t>(std::llround(weighed_ns)) - row.blocked_ns;
  row.count_excess = 1 / probability - 1;
  row.count_variance = (1 - probability) / (probability * probability);
  row.ns_variance = (1 - probability) * weighed_ns * weighed_ns;
}

}  // namespace

uint32_t OffCpuTable::InternProcess(const ProcessInfo& info) {
  auto it = process_index_.find(info.key);
  if (it != process_index_.end()) {
    ProcessInfo& known = processes_[it->second];
    if (known.name.empty()) known.name = info.name;
    if (known.container.empty()) known.container = info.container;
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

uint32_t OffCpuTable::OtherProcess() {
  if (processes_.size() == process_index_.size()) processes_.push_back({.key = {}, .name = kOther, .container = {}});
  return static_cast<uint32_t>(processes_.size() - 1);
}

uint32_t OffCpuTable::OtherComm() {
  if (comms_.size() == comm_index_.size()) comms_.push_back(kOther);
  return static_cast<uint32_t>(comms_.size() - 1);
}

ProfileRow OffCpuTable::RowOf(const Interval& interval, uint32_t user_stack) {
  ProfileRow row = {.process = interval.process,
                    .tid = interval.tid,
                    .comm = interval.comm,
                    .kernel_stack = interval.kernel_stack,
                    .user_stack = user_stack,
                    .kind = interval.kind,
                    .syscall = interval.syscall,
                    .count = interval.kind == WaitKind::kRunning ? 0u : 1u,
                    .blocked_ns = interval.blocked_ns,
                    .runnable_ns = interval.runnable_ns,
                    .max_ns = interval.blocked_ns + interval.runnable_ns,
                    .samples = interval.kind == WaitKind::kRunning ? 1u : 0u,
                    .cpu_ns = interval.cpu_ns};
  Weigh(interval, row);
  return row;
}

void OffCpuTable::AddSums(const ProfileRow& from, ProfileRow& to) {
  to.count += from.count;
  to.blocked_ns += from.blocked_ns;
  to.runnable_ns += from.runnable_ns;
  to.max_ns = std::max(to.max_ns, from.max_ns);
  to.samples += from.samples;
  to.cpu_ns += from.cpu_ns;
  to.count_excess += from.count_excess;
  to.count_variance += from.count_variance;
  to.ns_variance += from.ns_variance;
}

void OffCpuTable::Add(const ProfileRow& row) {
  Key key(row.process, row.tid, row.comm, row.kernel_stack, row.user_stack, row.kind, row.syscall, row.waker);
  auto it = rows_.find(key);
  if (it != rows_.end()) {
    AddSums(row, it->second);
  } else if (rows_.size() < limits_.rows) {
    rows_.emplace(key, row);
  } else {
    AddSums(row, overflow_);
  }
}

Profile OffCpuTable::Finish(StackTable& stacks, ProfileStats stats) {
  Profile profile;
  if (overflow_.count + overflow_.samples != 0) {
    overflow_.process = OtherProcess();
    overflow_.tid = 0;
    overflow_.comm = OtherComm();
    overflow_.kernel_stack = stacks.KernelOverflow();
    overflow_.user_stack = stacks.UserOverflow();
    overflow_.kind = WaitKind::kOther;
    profile.rows.push_back(overflow_);
  }
  profile.rows.reserve(rows_.size() + 1);
  for (const auto& [key, row] : rows_) profile.rows.push_back(row);
  for (ProfileRow& row : profile.rows) {
    row.count += static_cast<uint64_t>(std::llround(row.count_excess));
    row.count_excess = 0;
  }
  std::sort(profile.rows.begin(), profile.rows.end(), [](const ProfileRow& a, const ProfileRow& b) {
    return std::tie(a.process, a.tid, a.comm, a.kernel_stack, a.user_stack, a.kind, a.syscall, a.waker) <
           std::tie(b.process, b.tid, b.comm, b.kernel_stack, b.user_stack, b.kind, b.syscall, b.waker);
  });
  profile.processes = std::move(processes_);
  profile.comms = std::move(comms_);
  profile.wakers = std::move(wakers_);
  profile.stats = std::move(stats);
  profile.stats.processes = ProcessesWithRows(profile.rows);
  stacks.MoveTo(profile);
  AddDrops(stacks, profile);
  return profile;
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

// Of the waker itself, not of those further up.
void OffCpuTable::AddWakerDrops(Profile& profile) {
  std::array<Drop, kNoUserStackCount> missing;
  for (const ProfileRow& row : profile.rows) {
    if (row.waker == 0 || profile.wakers[row.waker - 1].empty()) continue;
    const WakerLink& waker = profile.wakers[row.waker - 1].front();
    Drop& drop = missing[static_cast<size_t>(profile.user_stacks[waker.user_stack].missing)];
    drop.count += row.count;
    drop.ns += row.total_ns();
  }
  for (size_t i = 0; i < missing.size(); ++i) {
    const auto reason = static_cast<NoUserStack>(i);
    if (reason == NoUserStack::kNone || reason == NoUserStack::kKernelThread) continue;
    AddDrop("no user stack of the waker: " + std::string(Name(reason)), missing[i].count, missing[i].ns, profile.stats);
  }
}

void OffCpuTable::AddDrops(const StackTable& stacks, Profile& profile) const {
  std::array<Drop, kNoUserStackCount> missing;
  Drop undefined;
  for (const ProfileRow& row : profile.rows) {
    Drop& drop = missing[static_cast<size_t>(profile.user_stacks[row.user_stack].missing)];
    drop.count += row.count + row.samples;
    drop.ns += row.wall_ns();
    const KernelStack& kernel = profile.kernel_stacks[row.kernel_stack];
    if (!kernel.is_lost()) continue;
    undefined.count += row.count + row.samples;
    undefined.ns += row.wall_ns();
  }
  for (size_t i = 0; i < missing.size(); ++i) {
    const auto reason_of = static_cast<NoUserStack>(i);
    if (reason_of == NoUserStack::kNone || reason_of == NoUserStack::kKernelThread) continue;
    std::string reason = "no user stack: " + std::string(Name(reason_of));
    AddDrop(std::move(reason), missing[i].count, missing[i].ns, profile.stats);
  }
  AddWakerDrops(profile);
  AddDrop("kernel stack without definition", undefined.count, undefined.ns, profile.stats);
  // The time of these is in the profile, under coarser names.
  AddDrop("row table full", overflow_.count + overflow_.samples, overflow_.wall_ns(), profile.stats);
  AddDrop("user stack table full", stacks.user_overflows(), 0, profile.stats);
  AddDrop("kernel stack table full", stacks.kernel_overflows(), 0, profile.stats);
  AddDrop("process table full", process_overflows_, 0, profile.stats);
  AddDrop("thread name table full", comm_overflows_, 0, profile.stats);
  AddDrop("waker table full", waker_overflows_, 0, profile.stats);
}

}  // namespace offcpu

#include "profile/merge.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "profile/merge_times.h"

namespace offcpu {
namespace {

constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

// Stacks by what they mean; those of the windows, which outlive the merge.
struct KernelMeaning {
  explicit KernelMeaning(const KernelStack& value) : stack(&value) {}

  const KernelStack* stack;

  // A stack whose definition was lost is known by its id only.
  uint64_t id() const { return stack->addresses.empty() ? stack->id : 0; }
  bool operator==(const KernelMeaning& other) const {
    return stack->overflow == other.stack->overflow && stack->user_mode == other.stack->user_mode &&
           id() == other.id() && stack->addresses == other.stack->addresses;
  }
  template <typename H>
  friend H AbslHashValue(H h, const KernelMeaning& meaning) {
    return H::combine(std::move(h), meaning.stack->overflow, meaning.stack->user_mode, meaning.id(),
                      meaning.stack->addresses);
  }
};

struct UserMeaning {
  explicit UserMeaning(const UserStackEntry& value) : entry(&value) {}

  const UserStackEntry* entry;

  bool operator==(const UserMeaning& other) const {
    return entry->missing == other.entry->missing && entry->overflow == other.entry->overflow &&
           IsSameStack(entry->stack, other.entry->stack);
  }
  template <typename H>
  friend H AbslHashValue(H h, const UserMeaning& meaning) {
    for (const Frame& frame : meaning.entry->stack.frames) h = H::combine(std::move(h), frame.code, frame.address);
    return H::combine(std::move(h), meaning.entry->missing, meaning.entry->stack.frames.size());
  }
};

// A table of the profile that is made, which has each meaning once, and the translation of a window's indices into its
// own.
template <typename Meaning, typename T>
class MergedTable {
 public:
  explicit MergedTable(std::vector<T>* values) : values_(*values) {}

  // From now on indices in `window` are translated, which must outlive that.
  void Begin(const std::vector<T>& window) {
    window_ = &window;
    translated_.assign(window.size(), kNone);
  }
  // The index here of what the window has at `in_window`. Calls `put` for the value once in a window; it returns the
  // index.
  template <typename PutValue>
  uint32_t IndexOf(uint32_t in_window, PutValue put) {
    uint32_t& index = translated_[in_window];
    if (index == kNone) index = put((*window_)[in_window]);
    return index;
  }
  uint32_t IndexOf(uint32_t in_window) {
    return IndexOf(in_window, [this](const T& value) { return Put(Meaning(value), value); });
  }
  // The index of `value`, which is added if its meaning is new.
  uint32_t Put(const Meaning& meaning, const T& value) {
    const auto [it, inserted] = known_.try_emplace(meaning, static_cast<uint32_t>(values_.size()));
    if (inserted) values_.push_back(value);
    return it->second;
  }

 private:
  std::vector<T>& values_;
  absl::flat_hash_map<Meaning, uint32_t> known_;
  const std::vector<T>* window_ = nullptr;
  std::vector<uint32_t> translated_;  // by the window's index; kNone: not yet
};

class Merger {
 public:
  Merger(std::span<const std::shared_ptr<const Profile>> windows, RowFilter keep) : keep_(keep), times_(windows) {}

  void Add(const Profile& window) {
    window_ = &window;
    kept_.clear();
    processes_.Begin(window.processes);
    comms_.Begin(window.comms);
    kernel_stacks_.Begin(window.kernel_stacks);
    user_stacks_.Begin(window.user_stacks);
    wakers_.Begin(window.wakers);
    control_groups_.Begin(window.control_groups);
    for (const std::shared_ptr<const CodeObject>& code : window.code) code_.try_emplace(code.get(), &code);
    for (const ProfileRow& row : window.rows) AddRow(row);
    for (const LedgerEntry& entry : window.ledger) AddEntry(entry);
    AddWhole(window);
  }

  Profile Finish() {
    times_.Finish(profile_);
    std::sort(profile_.rows.begin(), profile_.rows.end(),
              [](const ProfileRow& a, const ProfileRow& b) { return a.key() < b.key(); });
    std::sort(profile_.ledger.begin(), profile_.ledger.end(), [](const LedgerEntry& a, const LedgerEntry& b) {
      return std::tie(a.process, a.tid) < std::tie(b.process, b.tid);
    });
    profile_.stats.processes = all_processes_.size();
    return std::move(profile_);
  }

 private:
  // What is not a sum over rows.
  void AddWhole(const Profile& window) {
    // The clock of unix time may have been set back between two windows, the other never is.
    const auto start = std::tie(window.start_boot_ns, window.start_unix_ns);
    if (is_first_ || start < std::tie(profile_.start_boot_ns, profile_.start_unix_ns)) {
      profile_.start_unix_ns = window.start_unix_ns;
      profile_.start_boot_ns = window.start_boot_ns;
    }
    profile_.duration_ns += window.duration_ns;
    if (profile_.host.empty()) profile_.host = window.host;
    // Who slept through all of it slept through each window: that many at most.
    const uint64_t slept = window.stats.slept_throughout;
    profile_.stats.slept_throughout = is_first_ ? slept : std::min(profile_.stats.slept_throughout, slept);
    is_first_ = false;
    AddStats(window.stats, profile_.stats);
    const ProcessKey* last = nullptr;
    for (const ProfileRow& row : window.rows) {  // sorted by process
      const ProcessKey& process = window.processes[row.process].key;
      if (&process == last) continue;
      last = &process;
      if (process != ProcessKey()) all_processes_.insert(process);  // that one stands for many
    }
  }

  bool Keeps(uint32_t process, uint32_t comm) {
    const auto [it, inserted] = kept_.try_emplace({process, comm}, false);
    if (inserted) it->second = keep_(window_->processes[process], window_->comms[comm]);
    return it->second;
  }

  void AddRow(ProfileRow row) {
    if (!Keeps(row.process, row.comm)) return;
    row.process = Process(row.process);
    row.comm = comms_.IndexOf(row.comm);
    row.kernel_stack = kernel_stacks_.IndexOf(row.kernel_stack);
    row.user_stack = User(row.user_stack);
    if (row.waker != 0) row.waker = Wakers(row.waker - 1) + 1;
    if (row.control_group != 0) row.control_group = control_groups_.IndexOf(row.control_group - 1) + 1;
    const auto [it, inserted] = rows_.try_emplace(row.key(), profile_.rows.size());
    times_.Add(*window_, row, it->second);
    if (inserted) {
      profile_.rows.push_back(row);
    } else {
      profile_.rows[it->second].Add(row);
    }
  }

  void AddEntry(LedgerEntry entry) {
    if (!keep_(window_->processes[entry.process], entry.comm)) return;
    entry.process = Process(entry.process);
    const auto [it, inserted] = entries_.try_emplace({entry.process, entry.tid}, profile_.ledger.size());
    if (inserted) {
      profile_.ledger.push_back(std::move(entry));
      return;
    }
    LedgerEntry& sum = profile_.ledger[it->second];
    AddTimes(entry, sum);
  }

  uint32_t Process(uint32_t in_window) {
    return processes_.IndexOf(in_window, [this](const ProcessInfo& info) {
      const uint32_t index = processes_.Put(info.key, info);
      ProcessInfo& known = profile_.processes[index];
      if (known.name.empty()) known.name = info.name;
      if (known.container.empty()) known.container = info.container;
      if (known.executable.empty()) known.executable = info.executable;
      if (known.service == ServiceNames()) known.service = info.service;
      return index;
    });
  }

  uint32_t User(uint32_t in_window) {
    return user_stacks_.IndexOf(in_window, [this](const UserStackEntry& entry) {
      const size_t before = profile_.user_stacks.size();
      const uint32_t index = user_stacks_.Put(UserMeaning(entry), entry);
      if (profile_.user_stacks.size() != before) UseCodeOf(entry.stack);
      return index;
    });
  }

  void UseCodeOf(const UserStack& stack) {
    for (const Frame& frame : stack.frames) {
      if (frame.code != nullptr && used_code_.insert(frame.code).second) profile_.code.push_back(*code_.at(frame.code));
    }
  }

  uint32_t Wakers(uint32_t in_window) {
    return wakers_.IndexOf(in_window, [this](WakerChain chain) {
      for (Waker& waker : chain) {
        waker.kernel_stack = kernel_stacks_.IndexOf(waker.kernel_stack);
        waker.user_stack = User(waker.user_stack);
        if (waker.interrupt) continue;
        waker.process = Process(waker.process);
        waker.comm = comms_.IndexOf(waker.comm);
      }
      return wakers_.Put(chain, chain);
    });
  }

  const RowFilter keep_;
  MergedTimes times_;
  Profile profile_;
  bool is_first_ = true;
  absl::flat_hash_map<RowKey, size_t> rows_;
  absl::flat_hash_map<std::pair<uint32_t, int32_t>, size_t> entries_;
  MergedTable<ProcessKey, ProcessInfo> processes_{&profile_.processes};
  MergedTable<std::string_view, std::string> comms_{&profile_.comms};
  MergedTable<KernelMeaning, KernelStack> kernel_stacks_{&profile_.kernel_stacks};
  MergedTable<UserMeaning, UserStackEntry> user_stacks_{&profile_.user_stacks};
  MergedTable<WakerChain, WakerChain> wakers_{&profile_.wakers};
  MergedTable<std::string_view, std::string> control_groups_{&profile_.control_groups};
  absl::flat_hash_map<const CodeObject*, const std::shared_ptr<const CodeObject>*> code_;
  absl::flat_hash_set<const CodeObject*> used_code_;
  absl::flat_hash_set<ProcessKey> all_processes_;

  const Profile* window_ = nullptr;                                // that is being added
  absl::flat_hash_map<std::pair<uint32_t, uint32_t>, bool> kept_;  // its, by process and thread name
};

}  // namespace

void AddStats(const ProfileStats& from, ProfileStats& to) {
  to.intervals += from.intervals;
  to.cookies += from.cookies;
  to.captures += from.captures;
  to.capture_ns += from.capture_ns;
  to.capture_longest_ns = std::max(to.capture_longest_ns, from.capture_longest_ns);
  to.kernel_stacks += from.kernel_stacks;
  to.walked_at_switch += from.walked_at_switch;
  to.summed_at_switch += from.summed_at_switch;
  to.proven_walks += from.proven_walks;
  for (size_t i = 0; i < to.walk_misses.size(); ++i) to.walk_misses[i] += from.walk_misses[i];
  to.told_rows = std::max(to.told_rows, from.told_rows);
  to.told_stacks = std::max(to.told_stacks, from.told_stacks);
  to.live_stacks += from.live_stacks;
  to.walks += from.walks;
  for (size_t i = 0; i < to.walk_ends.size(); ++i) to.walk_ends[i] += from.walk_ends[i];
  for (size_t i = 0; i < to.frames_by_source.size(); ++i) {
    to.frames_by_source[i] += from.frames_by_source[i];
    to.complete_walks_by_source[i] += from.complete_walks_by_source[i];
  }
  if (to.sample_ns == 0 || (from.sample_ns != 0 && from.sample_ns < to.sample_ns)) to.sample_ns = from.sample_ns;
  to.sample_most_ns = std::max(to.sample_most_ns, from.sample_most_ns);
  to.not_sampled += from.not_sampled;
  to.oncpu_period_ns = std::max(to.oncpu_period_ns, from.oncpu_period_ns);
  to.oncpu_samples += from.oncpu_samples;
  to.suspended_ns += from.suspended_ns;
  to.clock_forward_ns += from.clock_forward_ns;
  to.clock_back_ns += from.clock_back_ns;
  to.own_programs_ns += from.own_programs_ns;
  to.own_process_ns += from.own_process_ns;
  to.own_memory_bytes = std::max(to.own_memory_bytes, from.own_memory_bytes);
  to.host_cpu_ns += from.host_cpu_ns;
  to.cpu_budget_ppm = std::max(to.cpu_budget_ppm, from.cpu_budget_ppm);
  to.run_queue.Add(from.run_queue);
  AddLosses(from.losses, to.losses);
}

void AddLoss(const Loss& loss, std::vector<Loss>& to) {
  const auto is_same = [&loss](const Loss& other) { return other.reason == loss.reason; };
  const auto known = std::find_if(to.begin(), to.end(), is_same);  // there are a few dozen reasons
  if (known == to.end()) return to.push_back(loss);
  known->count += loss.count;
  known->ns += loss.ns;
}

void AddLosses(const std::vector<Loss>& from, std::vector<Loss>& to) {
  for (const Loss& loss : from) AddLoss(loss, to);
}

Profile MergeProfiles(std::span<const std::shared_ptr<const Profile>> windows, RowFilter keep) {
  Merger merger(windows, keep);
  for (const std::shared_ptr<const Profile>& window : windows) merger.Add(*window);
  return merger.Finish();
}

}  // namespace offcpu

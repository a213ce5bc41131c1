#include "profile/merge_named.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "profile/merge.h"

namespace offcpu {
namespace {

// Numbers stacks from 1 on, so that those which mean the same have one number, whichever recording they are of.
class StackNumbers {
 public:
  // Adds the code objects of the recording whose stacks follow.
  void AddCode(const std::vector<std::shared_ptr<const CodeObject>>& objects) {
    for (const std::shared_ptr<const CodeObject>& code : objects) {
      const std::string& identity = code->build_id.empty() ? code->file_hash : code->build_id;
      const auto [it, is_new] = code_.try_emplace({code->path, identity}, code);
      same_code_[code.get()] = it->second.get();
    }
  }

  // Each boot has the kernel elsewhere: its functions are the same if their names are.
  uint64_t Of(const NamedKernelStack& stack) {
    std::vector<FrameMeaning> frames;
    for (const NamedFrame& frame : stack.frames)
      frames.emplace_back(nullptr, frame.named ? 0 : frame.address, SameLines{frame.lines}, frame.exact);
    const auto [it, is_new] =
        kernel_numbers_.try_emplace({std::move(frames), stack.overflow, stack.user_mode}, kernels_.size() + 1);
    if (is_new) kernels_.push_back(stack);
    return it->second;
  }

  uint64_t Of(NamedUserStack stack) {
    std::vector<FrameMeaning> frames;
    for (NamedFrame& frame : stack.frames) {
      if (frame.code != nullptr) frame.code = same_code_.at(frame.code);
      frames.emplace_back(frame.code, frame.address, SameLines{frame.lines}, frame.exact);
    }
    UserMeaning meaning(std::move(frames), stack.end, stack.missing, stack.overflow);
    const auto [it, is_new] = user_numbers_.try_emplace(std::move(meaning), users_.size() + 1);
    if (is_new) users_.push_back(std::move(stack));
    return it->second;
  }

  const NamedKernelStack& kernel(uint64_t number) const { return kernels_[number - 1]; }
  const NamedUserStack& user(uint64_t number) const { return users_[number - 1]; }

  // Those that a user stack has a frame in.
  std::vector<std::shared_ptr<const CodeObject>> UsedCode() const {
    absl::flat_hash_set<const CodeObject*> used;
    for (const NamedUserStack& stack : users_) {
      for (const NamedFrame& frame : stack.frames) used.insert(frame.code);
    }
    std::vector<std::shared_ptr<const CodeObject>> objects;
    for (const auto& [name, code] : code_) {
      if (used.contains(code.get())) objects.push_back(code);
    }
    return objects;
  }

 private:
  // Lines that are equal, wherever they are.
  struct SameLines {
    std::span<const FrameLine> lines;

    bool operator==(const SameLines& other) const { return std::ranges::equal(lines, other.lines); }
    template <typename H>
    friend H AbslHashValue(H h, const SameLines& same) {
      for (const FrameLine& line : same.lines) h = H::combine(std::move(h), line);
      return H::combine(std::move(h), same.lines.size());
    }
  };
  using FrameMeaning = std::tuple<const CodeObject*, uint64_t, SameLines, bool>;
  using KernelMeaning = std::tuple<std::vector<FrameMeaning>, bool, bool>;
  using UserMeaning = std::tuple<std::vector<FrameMeaning>, EndReason, NoUserStack, bool>;

  std::map<std::pair<std::string, std::string>, std::shared_ptr<const CodeObject>> code_;  // by path and identity
  absl::flat_hash_map<const CodeObject*, const CodeObject*> same_code_;
  absl::flat_hash_map<KernelMeaning, uint64_t> kernel_numbers_;
  absl::flat_hash_map<UserMeaning, uint64_t> user_numbers_;
  std::vector<NamedKernelStack> kernels_;
  std::vector<NamedUserStack> users_;
};

// Files do not say when a process started: a process is identified by its pid, what runs in it, and which one of
// several that is.
class ProcessNumbers {
 public:
  void Tell(NamedProfile& profile) {
    std::map<Identity, uint64_t> seen;  // in this recording
    for (ProcessInfo& process : profile.processes) {
      if (process.key == ProcessKey()) continue;  // it stands for all that found no place
      const int32_t pid = process.key.pid;
      const Identity who(pid, profile.host, process.name, process.executable, process.container);
      const auto [it, is_new] = numbers_.try_emplace({who, seen[who]++}, next_of_pid_[pid]);
      if (is_new) ++next_of_pid_[pid];
      process.key = {.pid = pid, .start_ns = 0, .exec_id = it->second};
    }
  }

 private:
  using Identity = std::tuple<int32_t, std::string, std::string, std::string, std::string>;

  std::map<std::pair<Identity, uint64_t>, uint64_t> numbers_;
  std::map<int32_t, uint64_t> next_of_pid_;
};

// Turns recordings into windows whose stacks are numbers, which MergeProfiles can join, and what that makes of them
// back. The numbers of user stacks are of a stack and of what has been judged of the row.
class NamedMerger {
 public:
  void Add(NamedProfile& profile) {
    names_.push_back(profile.names);
    if (std::find(hosts_.begin(), hosts_.end(), profile.host) == hosts_.end()) hosts_.push_back(profile.host);
    is_idle_told_ = is_idle_told_ && profile.idle_is_told;
    processes_.Tell(profile);
    stacks_.AddCode(profile.code);
    auto window = std::make_shared<Profile>();
    static_cast<ProfileFacts&>(*window) = static_cast<ProfileFacts&>(profile);
    window->code.clear();
    for (const NamedKernelStack& stack : profile.kernel_stacks)
      window->kernel_stacks.push_back({.id = 0, .addresses = {stacks_.Of(stack)}});
    AddUserStacks(profile, *window);
    windows_.push_back(std::move(window));
  }

  NamedProfile Finish() {
    Profile merged = MergeProfiles(windows_, Everything);
    NamedProfile profile;
    for (const KernelStack& stack : merged.kernel_stacks)
      profile.kernel_stacks.push_back(stacks_.kernel(stack.addresses[0]));
    TakeUserStacks(merged, profile);
    static_cast<ProfileFacts&>(profile) = std::move(static_cast<ProfileFacts&>(merged));
    std::stable_sort(profile.rows.begin(), profile.rows.end(),
                     [](const NamedRow& a, const NamedRow& b) { return a.key() < b.key(); });
    profile.code = stacks_.UsedCode();
    profile.idle_is_told = is_idle_told_;
    profile.host.clear();
    for (const std::string& host : hosts_) profile.host += (profile.host.empty() ? "" : ", ") + host;
    for (std::shared_ptr<NameStore>& names : names_) profile.names->Keep(std::move(names));
    return profile;
  }

 private:
  // The number of a stack, and what has been judged of a row.
  struct Marked {
    uint64_t stack = 0;
    std::string_view idle;
    std::string_view wait;

    bool operator==(const Marked&) const = default;
    template <typename H>
    friend H AbslHashValue(H h, const Marked& of) {
      return H::combine(std::move(h), of.stack, of.idle, of.wait);
    }
  };

  uint64_t NumberOf(const Marked& marked) {
    const auto [it, is_new] = marked_numbers_.try_emplace(marked, marked_.size() + 1);
    if (is_new) marked_.push_back(marked);
    return it->second;
  }
  const Marked& MarkedOf(const UserStackEntry& entry) const { return marked_[entry.stack.frames[0].address - 1]; }

  void AddUserStacks(const NamedProfile& profile, Profile& window) {
    std::vector<uint64_t> numbers;
    for (const NamedUserStack& stack : profile.user_stacks) numbers.push_back(stacks_.Of(stack));
    absl::flat_hash_map<uint64_t, uint32_t> index;
    const auto index_of = [&](uint32_t user_stack, std::string_view idle, std::string_view wait) {
      const uint64_t number = NumberOf({numbers[user_stack], idle, wait});
      const auto [it, is_new] = index.try_emplace(number, static_cast<uint32_t>(window.user_stacks.size()));
      if (is_new) window.user_stacks.push_back({.stack = {.frames = {{.address = number}}}});
      return it->second;
    };
    for (const NamedRow& row : profile.rows) {
      ProfileRow& added = window.rows.emplace_back(row);
      added.user_stack = index_of(row.user_stack, row.idle, row.wait);
    }
    for (WakerChain& chain : window.wakers) {
      for (Waker& waker : chain) waker.user_stack = index_of(waker.user_stack, "", "");
    }
  }

  void TakeUserStacks(Profile& merged, NamedProfile& profile) const {
    absl::flat_hash_map<uint64_t, uint32_t> index;
    const auto index_of = [&](uint32_t in_merged) {
      const uint64_t number = MarkedOf(merged.user_stacks[in_merged]).stack;
      const auto [it, is_new] = index.try_emplace(number, static_cast<uint32_t>(profile.user_stacks.size()));
      if (is_new) profile.user_stacks.push_back(stacks_.user(number));
      return it->second;
    };
    for (const ProfileRow& row : merged.rows) {
      const Marked& marked = MarkedOf(merged.user_stacks[row.user_stack]);
      NamedRow& taken = profile.rows.emplace_back(NamedRow{row, marked.idle, marked.wait});
      taken.user_stack = index_of(row.user_stack);
    }
    for (WakerChain& chain : merged.wakers) {
      for (Waker& waker : chain) waker.user_stack = index_of(waker.user_stack);
    }
  }

  std::vector<std::shared_ptr<NameStore>> names_;
  std::vector<std::string> hosts_;
  bool is_idle_told_ = true;
  ProcessNumbers processes_;
  StackNumbers stacks_;
  absl::flat_hash_map<Marked, uint64_t> marked_numbers_;
  std::vector<Marked> marked_;
  std::vector<std::shared_ptr<const Profile>> windows_;
};

}  // namespace

NamedProfile MergeNamedProfiles(std::vector<NamedProfile> profiles) {
  if (profiles.size() == 1) return std::move(profiles[0]);
  NamedMerger merger;
  for (NamedProfile& profile : profiles) merger.Add(profile);
  return merger.Finish();
}

}  // namespace offcpu

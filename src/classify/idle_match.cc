#include "classify/idle_match.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "classify/copy_suffix.h"
#include "classify/glob_match.h"
#include "classify/wait_cause.h"

namespace offcpu {
namespace {

constexpr size_t kMaxOwnCallees = 8;

// What the kernel has a thread return to from a handler of a signal.
bool IsTrampoline(const NamedFrame& frame) {
  return frame.named && (frame.name() == "__restore_rt" || frame.name().starts_with("runtime.sigreturn"));
}

// What the C library calls first, by way of a static function of its own since 2.34.
bool IsMain(std::span<const NamedFrame> frames, size_t index) {
  const std::string_view program = frames[index].module_name;
  for (size_t at = index + 1; at < std::min(index + 3, frames.size()); ++at) {
    const NamedFrame& caller = frames[at];
    if (program.empty() || caller.module_name == program) return false;
    if (caller.named)
      return caller.name().starts_with("__libc_start_main") || caller.name() == "__libc_start_call_main";
  }
  return false;
}

// Stripped programs have no name of main.
bool IsCalled(const IdleFrame& frame, std::span<const NamedFrame> frames, size_t index) {
  const NamedFrame& function = frames[index];
  if (!function.named) return IsMain(frames, index) && MatchesAny(frame.names, "main");
  const std::string_view stem = WithoutCopySuffix(function.name());
  return MatchesAny(frame.names, stem) ||
         (stem.size() != function.name().size() && MatchesAny(frame.names, function.name()));
}

// musl's waits look alike without names: as many functions wait for an event as for the mutex behind it.
bool IsMusl(std::string_view module) { return module.starts_with("ld-musl") || module.starts_with("libc.musl"); }

// Has it no name, as static functions in stripped programs have none, and is of the module that calls it or that it
// calls? Code of any other module is none that the pattern can mean.
bool IsStripped(std::span<const NamedFrame> frames, size_t index) {
  const NamedFrame& frame = frames[index];
  if (frame.named || frame.module_name.empty() || IsMusl(frame.module_name)) return false;
  const bool of_callee = index > 0 && frames[index - 1].module_name == frame.module_name;
  const bool of_caller = index + 1 < frames.size() && frames[index + 1].module_name == frame.module_name;
  return of_callee || of_caller;
}

// May it be the function, without a name?
bool MayBe(const IdleFrame& frame, std::span<const NamedFrame> frames, size_t index) {
  if (frame.may_be_unnamed && IsStripped(frames, index)) return true;
  return !frames[index].named && MatchesAny(frame.unnamed_in, frames[index].module_name);
}

// From frames[begin], which is to be the pattern's first, outwards. Which functions of the pattern can come next is
// kept as a set of bits: that takes no longer for a stack that is made to take long.
bool MatchesFrom(const IdleStack& stack, std::span<const NamedFrame> frames, size_t begin) {
  const size_t end = stack.frames.size();
  uint64_t next = 1;
  for (size_t at = begin; next != 0; ++at) {
    for (size_t i = 0; i < end; ++i) {
      if ((next >> i & 1) != 0 && stack.frames[i].may_be_missing) next |= uint64_t{2} << i;
    }
    if ((next >> end & 1) != 0) return true;
    if (at == frames.size()) return false;
    uint64_t taken = 0;
    for (size_t i = 0; i < end; ++i) {
      if ((next >> i & 1) == 0) continue;
      const IdleFrame& frame = stack.frames[i];
      if (IsCalled(frame, frames, at) || MayBe(frame, frames, at)) taken |= uint64_t{2} << i;
    }
    next = taken;
  }
  return false;
}

template <typename Values, typename Value>
bool Has(const Values& values, const Value& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

// A wait of the kernel's own within the call, for its locks, for memory, for a disk; or for a futex that is always
// somebody's, because the kernel hands it on.
bool IsNeverForWork(const NamedFrame& frame) {
  constexpr std::array<std::string_view, 10> kBeginnings = {
      "__mutex_lock", "mutex_lock",         "rwsem_down_",   "down_",        "io_schedule",
      "folio_wait_",  "asm_exc_page_fault", "futex_lock_pi", "do_mem_abort", "el0_ia"};
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&frame](std::string_view beginning) { return frame.name().starts_with(beginning); });
}

// One that ends by a signal, as every wait for work does. The kind of an open wait does not tell, the stack does.
bool IsInterruptible(const IdleWait& wait) {
  if (std::any_of(wait.kernel.begin(), wait.kernel.end(), IsNeverForWork)) return false;
  if (wait.kind != WaitKind::kOpen) return wait.kind == WaitKind::kSleeping;
  return !wait.kernel.empty() && wait.kernel.front().named;
}

// `cause`: that of the wait.
bool MatchesWait(const IdlePattern& pattern, const IdleWait& wait, WaitCause cause) {
  if (!pattern.syscalls.empty() && !Has(pattern.syscalls, wait.syscall)) return false;
  if (pattern.wait.empty() && !IsInterruptible(wait)) return false;
  if (!pattern.processes.empty() && !MatchesAny(pattern.processes, wait.process)) return false;
  if (!pattern.threads.empty() && !MatchesAny(pattern.threads, wait.thread)) return false;
  if (pattern.causes.empty()) return cause == CauseOf(WaitKind::kSleeping, wait.syscall, {});
  return Has(pattern.causes, cause);
}

// A frame for each function: to a pattern, those that were inlined are no others. In native code it depends on the
// files of the host whether these are known, and what a wait is must not.
std::vector<NamedFrame> FrameForEachFunction(std::span<const NamedFrame> frames) {
  std::vector<NamedFrame> functions;
  functions.reserve(frames.size());
  for (const NamedFrame& frame : frames) {
    const size_t first = frame.kind == FrameKind::kNative && !frame.lines.empty() ? frame.lines.size() - 1 : 0;
    for (size_t i = first; i < frame.lines.size(); ++i) {
      functions.push_back(frame);
      functions.back().lines = frame.lines.subspan(i, 1);
    }
  }
  return functions;
}

// What a row has in common with others that are judged alike: whichever thread it is, and whatever ended it.
RowKey SharedKey(const ProfileRow& row) {
  return {.process = row.process,
          .comm = row.comm,
          .kernel_stack = row.kernel_stack,
          .user_stack = row.user_stack,
          .kind = row.kind,
          .syscall = row.syscall};
}

enum class Kind : uint8_t { kForWork, kNames };

// Finds what the first pattern that a row matches says of it. Rows that share what decides share the work, and stacks
// are looked at only for rows that match all else.
class Finder {
 public:
  // Asks the patterns of one kind. `patterns` and `profile` must outlive this.
  Finder(const IdlePatterns& patterns, Kind kind, const NamedProfile& profile) : profile_(profile), causes_(profile) {
    for (const IdlePattern& pattern : patterns) {
      if (pattern.wait.empty() != (kind == Kind::kForWork)) continue;
      patterns_.push_back(&pattern);
      texts_.push_back(profile.names->Add(kind == Kind::kForWork ? pattern.name : pattern.wait));
    }
  }

  // "": no pattern matches.
  std::string_view Of(const ProfileRow& row) {
    const auto [it, inserted] = known_.try_emplace(SharedKey(row));
    if (inserted) it->second = Find(row);
    return it->second;
  }

 private:
  std::string_view Find(const ProfileRow& row) {
    const IdleWait wait = {.process = profile_.processes[row.process].name,
                           .thread = profile_.comms[row.comm],
                           .kind = row.kind,
                           .syscall = row.syscall,
                           .kernel = profile_.kernel_stacks[row.kernel_stack].frames};
    const WaitCause cause = causes_.Of(row);
    std::vector<NamedFrame> frames;  // of the user stack, once a pattern asks for it
    for (size_t i = 0; i < patterns_.size(); ++i) {
      if (!MatchesWait(*patterns_[i], wait, cause)) continue;
      if (frames.empty()) frames = FrameForEachFunction(profile_.user_stacks[row.user_stack].frames);
      if (HasStack(row.user_stack, frames, i)) return texts_[i];
    }
    return "";
  }

  // `frames`: those of the stack.
  bool HasStack(uint32_t stack, std::span<const NamedFrame> frames, size_t pattern) {
    const auto [it, inserted] = has_stack_.try_emplace({stack, pattern});
    if (!inserted) return it->second;
    const std::vector<IdleStack>& stacks = patterns_[pattern]->stacks;
    const auto matches = [&](const IdleStack& wanted) { return MatchesStack(wanted, frames); };
    return it->second = std::any_of(stacks.begin(), stacks.end(), matches);
  }

  const NamedProfile& profile_;
  std::vector<const IdlePattern*> patterns_;
  std::vector<std::string_view> texts_;  // what they say; parallel to patterns_
  WaitCauses causes_;
  absl::flat_hash_map<std::pair<uint32_t, size_t>, bool> has_stack_;
  absl::flat_hash_map<RowKey, std::string_view> known_;
};

}  // namespace

bool MatchesStack(const IdleStack& stack, std::span<const NamedFrame> frames) {
  for (size_t begin = 0; begin < frames.size(); ++begin) {
    if (MatchesFrom(stack, frames, begin)) return true;
    // What is further in than the pattern must be of the module of its first function, and no handler of a signal,
    // which can interrupt any wait.
    const bool goes_on = stack.own_callees && begin < kMaxOwnCallees && begin + 1 < frames.size();
    if (!goes_on || IsTrampoline(frames[begin]) || frames[begin].module_name.empty()) return false;
    if (frames[begin].module_name != frames[begin + 1].module_name) return false;
  }
  return false;
}

bool MatchesWait(const IdlePattern& pattern, const IdleWait& wait) {
  return MatchesWait(pattern, wait, CauseOf(wait.kind, wait.syscall, wait.kernel));
}

void MarkIdle(const IdlePatterns& patterns, NamedProfile* profile) {
  Finder finder(patterns, Kind::kForWork, *profile);
  for (NamedRow& row : profile->rows) row.idle = finder.Of(row);
  profile->idle_is_told = true;
  NameWaits(patterns, profile);
}

void NameWaits(const IdlePatterns& patterns, NamedProfile* profile) {
  Finder finder(patterns, Kind::kNames, *profile);
  WaitCauses causes(*profile);
  for (NamedRow& row : profile->rows) {
    if (row.kind == WaitKind::kRunning) continue;
    row.wait = finder.Of(row);
    if (row.wait.empty()) row.wait = Name(causes.Of(row));
  }
}

}  // namespace offcpu

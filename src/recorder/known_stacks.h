// The user stacks that the BPF programs may tell by an id alone, because they can walk them: which stack an id stands
// for, and what the BPF programs are told for it. They are those of captures that were walked to the outermost frame by
// rows which follow from nothing but the code that is mapped, and that code is of files.
//
// A capture that was walked in the BPF programs, too, proves that walk. After one that was wrong nothing is told any
// more of code like that.
//
// Bounded in stacks and frames; what was told before is forgotten then, on both sides. One thread.
#ifndef OFFCPU_RECORDER_KNOWN_STACKS_H_
#define OFFCPU_RECORDER_KNOWN_STACKS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "capture/events.h"
#include "capture/user_rows.h"
#include "process/module.h"
#include "unwind/walk.h"

namespace offcpu {

class KnownStacks {
 public:
  struct Hooks {
    std::function<void(const ToldWalk&)> tell;  // null: no user stacks are walked there
    std::function<void()> forget;               // all that was told
  };
  struct Limits {
    size_t stacks = 1 << 16;
    size_t frames = 1 << 19;
    uint64_t windows = 16;  // after so many it is all learned anew: programs come to an end
  };
  explicit KnownStacks(Hooks hooks) : KnownStacks(std::move(hooks), {}) {}
  KnownStacks(Hooks hooks, const Limits& limits) : hooks_(std::move(hooks)), limits_(limits) {}

  bool learns() const { return hooks_.tell != nullptr; }
  // `stack` and `trace`: of the walk of `capture`. True if it proves that of a BPF program.
  bool Learn(const CaptureEvent& capture, const UserStack& stack, const WalkTrace& trace);
  // Null: it was forgotten. Valid until the next Learn or BeginWindow.
  const UserStack* Find(uint64_t id) const;
  void BeginWindow();

  // Walks of BPF programs that were not what captures say.
  uint64_t wrong() const { return wrong_; }

 private:
  struct Generation {
    absl::flat_hash_map<uint64_t, UserStack> stacks;  // by id
    size_t frames = 0;                                // of all
    absl::flat_hash_map<const Module*, std::shared_ptr<const Module>> modules;
  };

  void Tell(uint64_t code_hash, uint64_t id, const UserStack& stack, const WalkTrace& trace);
  void Distrust(uint64_t code_hash);
  void Keep(uint64_t id, const UserStack& stack);
  void Forget();

  const Hooks hooks_;
  const Limits limits_;
  Generation told_;
  Generation before_;                         // told before that: ids of it may still be under way
  absl::flat_hash_set<uint64_t> distrusted_;  // hashes of code
  uint64_t windows_ = 0;
  uint64_t wrong_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_KNOWN_STACKS_H_

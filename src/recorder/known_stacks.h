// The user stacks that the BPF programs may tell by an id alone, because they can walk them: which stack an id stands
// for, and what the BPF programs have to know for it. They are those of captures that were walked to an end, by what
// shows in the addresses and the words on the way.
//
// A guess stays one: if a walk only seemed to end, or may have led past frames, each stack that has the same addresses
// is marked so. It is proven as soon as one walk proves it. For where nothing that is code's address lies between the
// stack pointer and where the frame pointer leads, the function at that address keeps its own frame there, whatever has
// called it.
//
// A capture that was walked in the BPF programs, too, proves that walk. After one that was wrong this class tells
// nothing more of code like that. Nor of code that had an id in common with other code: the addresses and the code of
// an id are compared with those that it was learned of.
//
// Bounded in stacks and frames; at a bound both sides forget all from before. One thread.
#ifndef OFFCPU_RECORDER_KNOWN_STACKS_H_
#define OFFCPU_RECORDER_KNOWN_STACKS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "bpf_programs/events.h"
#include "process/module.h"
#include "profile/void_names.h"
#include "recorder/host.h"
#include "unwind/walk.h"

namespace offcpu {

class KnownStacks {
 public:
  struct Limits {
    size_t stacks = 1 << 16;
    size_t frames = 1 << 19;
    uint64_t windows = 16;  // after so many it is all learned anew: programs come to an end
  };
  // `host` must outlive it.
  explicit KnownStacks(Host& host) : KnownStacks(host, {}) {}
  KnownStacks(Host& host, const Limits& limits) : host_(host), learns_(host.WalksUserStacks()), limits_(limits) {}

  // False: no user stacks are walked by BPF programs.
  bool learns() const { return learns_; }
  // `stack` and `trace`: of the walk of `capture`. True if it proves that of a BPF program.
  bool Learn(const CaptureEvent& capture, const UserStack& stack, const WalkTrace& trace);
  // Null: it was forgotten, or its code is distrusted. Valid until the next Learn, Distrust or BeginWindow.
  const UserStack* Find(uint64_t id) const;
  void BeginWindow();
  // Forgets all that Learn has told, and tells nothing more of this code.
  void Distrust(uint64_t code_hash);

  // Walks of BPF programs that were not what captures say.
  uint64_t wrong() const { return wrong_; }
  // Ids that two stacks have had.
  uint64_t conflicts() const { return conflicts_; }

 private:
  struct Known {
    // What the id is made of.
    uint64_t code_hash = 0;
    std::vector<uint64_t> name;
    UserStack stack;
  };
  struct Generation {
    absl::flat_hash_map<uint64_t, Known> stacks;  // by id
    size_t frames = 0;                            // of all
    absl::flat_hash_map<const CodeObject*, std::shared_ptr<const CodeObject>> code;
  };

  void Tell(uint64_t code_hash, uint64_t id, std::vector<uint64_t>&& name, const UserStack& stack,
            const WalkTrace& trace);
  const Known* FindKnown(uint64_t id) const;
  bool IsWrong(const CaptureEvent& capture, uint64_t id, const WalkTrace& trace) const;
  void Keep(uint64_t id, Known&& known);
  void Forget();

  Host& host_;
  const bool learns_;
  const Limits limits_;
  Generation told_;
  Generation before_;     // told before that: ids of it may still be under way
  VoidNames distrusted_;  // hashes of code
  uint64_t windows_ = 0;
  uint64_t wrong_ = 0;
  uint64_t conflicts_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_KNOWN_STACKS_H_

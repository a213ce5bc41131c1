// Walks a user stack: from the saved registers to the outermost frame, or to the first place where going on would be a
// guess. One thread. Needs the mappings as they were when the stack was captured; reads nothing but the stack copy
// and, of code that no table describes, what the page cache has of its file.
//
// Does not symbolize, and keeps modules alive only as long as their rows are cached: a caller that keeps a UserStack
// keeps its modules.
#ifndef OFFCPU_UNWIND_WALK_H_
#define OFFCPU_UNWIND_WALK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "process/address_space.h"
#include "process/machine.h"
#include "unwind/apply.h"
#include "unwind/kept_frames.h"
#include "unwind/made_code.h"
#include "unwind/row_finder.h"
#include "unwind/stack_copy.h"
#include "unwind/strategies.h"
#include "unwind/unwind_order.h"
#include "unwind/unwind_row.h"
#include "unwind/user_stack.h"

namespace offcpu {

inline constexpr size_t kMaxFrames = 512;  // that are kept of a stack, where nobody says how many
inline constexpr size_t kLeastMaxFrames = 2;
inline constexpr size_t kMostMaxFrames = 4096;

struct WalkStats {
  uint64_t walks = 0;
  std::array<uint64_t, kEndReasonCount> ends = {};
  std::array<uint64_t, kFrameSourceCount> frames = {};
};

// How a walk went, for code that goes the same way again.
struct WalkTrace : FramePlaces {
  struct Step {
    uint64_t lookup_pc = 0;  // what the row was looked up by: an address in the process
    UnwindRow row;           // unless `is_end`
    bool is_end = false;     // whatever the stack holds
  };
  // What else a frame of made code is made of: see made_code.h.
  struct Made {
    size_t step = 0;  // whose it is
    CodeStamp stamp;
    ShownWords shown = {};
    std::array<uint64_t, kShownWords> shown_values = {};
  };
  std::vector<Step> steps;  // of the frames
  std::vector<Made> made;   // of those that have it, in order
  // Each row follows from nothing but its address and the code that is mapped, or its version if it was made.
  bool is_fixed = true;
  // The steps lead from the same registers over the same words to the same end: by rows as above, or by such as more
  // has decided, but only whether there is one: it was a guess that the code at this address keeps a frame pointer, or
  // that an address is that of a trampoline. Whether it is right shows by where it leads.
  bool is_followable = true;
  // The walk ended where a guess would have gone on, had the frame pointer been one.
  bool is_cut = false;
};

// What a walk would have gone on with.
struct NeededStack {
  uint64_t address = 0;  // from which on the stack is needed; 0: nothing that was not captured would have helped
  bool guessed = false;  // the way there goes by a frame pointer that nothing proves
};

class Walker {
 public:
  explicit Walker(const Machine& machine, const UnwindOrder& order = {}, RowFinderLimits limits = {},
                  size_t max_frames = kMaxFrames);

  // Fills `out`, whose buffers are used again. `in_syscall`: the thread entered the kernel by a system call, so that
  // some registers hold no values of the program. A leaf that lies in no executable mapping yields no frame. `made`:
  // what is known of code that the process has made, if anything.
  void Walk(const AddressSpace& space, const Registers& registers, bool in_syscall, const StackCopy& copy,
            UserStack* out, WalkTrace* trace = nullptr, const MadeCode* made = nullptr);

  // What the last walk needed, if it ended as `stack copy`, `other stack` or `stack not read`.
  const NeededStack& needed() const { return needed_; }
  const WalkStats& stats() const { return stats_; }
  const RowFinderStats& row_stats() const { return strategies_.row_stats(); }

 private:
  EndReason Run(const AddressSpace& space, const StackCopy& copy, FrameState* state, KeptFrames* kept,
                WalkTrace* trace);
  // Keeps a frame that a runtime knows, and goes to its caller; says why the walk ends if it does.
  static std::optional<EndReason> StepFromMade(const MadeFrame& made, const StackCopy& copy, FrameState* state,
                                               KeptFrames* kept, WalkTrace* trace);
  static void Trace(const FoundCaller& found, uint64_t lookup_pc, WalkTrace* trace);

  const Machine* machine_;
  size_t max_frames_;
  Strategies strategies_;
  std::optional<Strategies> extra_strategies_;  // with .eh_frame before SFrame; only if the order has it behind
  Strategies* asked_ = nullptr;                 // the one of both that serves this walk
  const MadeCode* made_ = nullptr;              // likewise
  NeededStack needed_;
  WalkStats stats_;
};

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_WALK_H_

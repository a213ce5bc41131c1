// The strategies by which the caller of a frame is found: one list, in the order in which they are asked, in
// Strategies::Find. What they ask is elsewhere: tables of modules (row_finder.h), the frame pointer (frame_pointer.h),
// code itself (process/return_path.h), runtimes (made_code.h). One thread.
//
// Reads the stack copy and, of code that no table describes, what is in memory of its file. Does not keep frames, and
// does not judge whether a walk is complete: see walk.h.
#ifndef OFFCPU_UNWIND_STRATEGIES_H_
#define OFFCPU_UNWIND_STRATEGIES_H_

#include <cstdint>
#include <optional>

#include "process/address_space.h"
#include "process/machine.h"
#include "unwind/apply.h"
#include "unwind/find_outcome.h"
#include "unwind/made_code.h"
#include "unwind/row_finder.h"
#include "unwind/stack_copy.h"
#include "unwind/unwind_order.h"
#include "unwind/unwind_row.h"
#include "unwind/user_stack.h"

namespace offcpu {

// What is known of the way from a frame to its caller.
struct FoundCaller {
  const MadeFrame* made = nullptr;  // a runtime has said all of it, and what follows says nothing; until the next Find
  uint64_t address = 0;             // that was looked up
  bool plausible_fp = false;
  FindOutcome outcome = FindOutcome::kNotHere;
  UnwindRow row;
  bool is_fixed = false;       // nothing but the address has decided
  bool is_followable = false;  // see WalkTrace
  bool ends = false;           // the walk, whatever the stack holds
  bool is_cut = false;         // likewise
  bool may_skip = false;       // what it leads to need not be the caller
  bool keeps_fp = false;       // the frame pointer, if the row goes by it, is known to be that of the frame

  // Before anything is known of another frame but its address.
  void LookUpAt(uint64_t at, bool has_plausible_fp) {
    address = at;
    plausible_fp = has_plausible_fp;
    may_skip = keeps_fp = ends = is_cut = false;
    is_followable = true;
  }
  // Does anything but a guess say what the row is?
  bool IsDescribed() const { return outcome == FindOutcome::kFound && row.source != FrameSource::kFramePointer; }
  bool IsGuess() const { return outcome == FindOutcome::kFound && row.source == FrameSource::kFramePointer; }
};

class Strategies {
 public:
  Strategies(const Machine& machine, const UnwindOrder& order, RowFinderLimits limits)
      : machine_(&machine), by_frame_pointer_(order.Has(FrameSource::kFramePointer)), rows_(machine, order, limits) {}

  // Fills `found` for the frame in which `state` stands, which is in `code`. `made`: what is known of code that the
  // process has made; null: nothing. Otherwise says why the walk ends here.
  std::optional<EndReason> Find(const MappedCode& code, const StackCopy& copy, const MadeCode* made, FrameState* state,
                                FoundCaller* found);

  // Goes to the caller of `frame`, by what Find has left in `found` unless that is `made`; says why the walk ends if it
  // does. Leaves in `found` what it went by.
  std::optional<EndReason> Step(const MappedCode& code, const StackCopy& copy, FrameState* state, Frame* frame,
                                FoundCaller* found) const;

  const RowFinderStats& row_stats() const { return rows_.stats(); }

 private:
  void FindInterrupted(const MappedCode& code, const FrameState& state, FoundCaller* found);
  void FindAtClone(const MappedCode& code, const FrameState& state, FoundCaller* found);
  std::optional<EndReason> FindTrampoline(const MappedCode& code, const StackCopy& copy, FrameState* state,
                                          FoundCaller* found);
  void FindByCode(const MappedCode& code, const FrameState& state, FoundCaller* found);
  std::optional<EndReason> StepFromLandmark(const StackLandmark& landmark, const StackCopy& copy, FrameState* state,
                                            FoundCaller* found) const;
  std::optional<EndReason> StepFromStart(const FrameState& state, FoundCaller* found) const;
  EndReason EndWithoutRow(const MappedCode& code, const FrameState& state, FoundCaller* found) const;

  const Machine* machine_;
  bool by_frame_pointer_;
  RowFinder rows_;
  std::optional<MadeFrame> made_;  // that the last Find has found
};

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_STRATEGIES_H_

#include "unwind/walk.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "process/copied_code.h"
#include "unwind/apply.h"
#include "unwind/frame_pointer.h"

namespace offcpu {
namespace {

// A process may have code of two machines. The stack of the one is not walked by the rules of the other.
bool IsOfOtherMachine(const MappedCode& code, const Machine& machine) {
  return code.module != nullptr && code.module->machine != &machine;
}

// Why a walk ends in code that nothing describes.
EndReason WithoutRow(const MappedCode& code) {
  return code.module == nullptr ? EndReason::kGeneratedCode : EndReason::kNoRow;
}

// Is it known that the code keeps a frame pointer wherever it has a frame?
bool KeepsFramePointer(const AddressSpace& space, const MappedCode& code) {
  if (code.module != nullptr) return code.module->is_go;
  const bool is_made = code.other == nullptr || code.other->kind() == CodeKind::kPerfMap;
  return is_made && space.keeps_frame_pointers();
}

// What was captured has no more frames than this, each of which has a return address: a walk that finds more goes in
// circles, through signal frames of a hostile stack.
size_t MostFrames(const StackCopy& copy, const Machine& machine) {
  size_t bytes = copy.end - copy.begin;
  for (const StackPiece& piece : copy.pieces) bytes += piece.bytes.size();
  return bytes / machine.word_bytes + 2;
}

// The start code of a C library or of a dynamic linker need not have a row that says that nobody calls it. It is where
// a program is entered, and other functions follow at once, so that more must speak for it. For a caller that is the
// ABI's mark, a frame pointer of 0; for an instruction that was interrupted, which leaves any function's register as it
// was, that it is the very first one or that the stack is still as the kernel has made it.
bool IsStartCode(const MappedCode& code, uint64_t address, const StackCopy& copy, const FrameState& state) {
  constexpr uint64_t kMaxStartBytes = 64;
  const uint64_t entry = code.module == nullptr || IsOfOtherMachine(code, *state.machine) ? 0 : code.module->entry;
  if (entry == 0 || address < entry || address - entry >= kMaxStartBytes) return false;
  if (state.exact) return address == entry || BeginsProcessStack(*state.machine, copy, state.sp);
  return state.fp_known && state.fp == 0;
}

// The function of Go's runtime that `address` is in, if stacks begin or change there.
const GoLandmark* GoLandmarkAt(const MappedCode& code, uint64_t address) {
  if (code.module == nullptr) return nullptr;
  for (const GoLandmark& landmark : code.module->go_landmarks) {
    if (address >= landmark.code.begin && address < landmark.code.end) return &landmark;
  }
  return nullptr;
}

// A walk that may have led past frames is not known to be complete.
EndReason Judged(EndReason end, bool may_skip) {
  return end == EndReason::kComplete && may_skip ? EndReason::kGuessedEnd : end;
}

// Does the row lead to where the frame pointer leads to as well?
bool IsFrameOfFramePointer(const Row& row, const FrameState& state, const Machine& machine) {
  const Row by_fp = FramePointerRow(machine);
  const auto cfa = [&](const Row& of) {
    return (of.cfa.reg == machine.fp ? state.fp : state.sp) + static_cast<uint64_t>(int64_t{of.cfa.offset});
  };
  return row.fp.place == by_fp.fp.place && row.fp.offset == by_fp.fp.offset && cfa(row) == cfa(by_fp);
}

}  // namespace

// Does anything but a guess say what its row is?
bool Walker::IsDescribed(const Found& found) {
  return found.outcome == FindOutcome::kFound && found.row.source != FrameSource::kFramePointer;
}

bool Walker::IsGuess(const Found& found) {
  return found.outcome == FindOutcome::kFound && found.row.source == FrameSource::kFramePointer;
}

Walker::Walker(const UnwindOrder& order, RowFinderLimits limits, const Machine& machine, size_t max_frames)
    : machine_(&machine),
      max_frames_(max_frames),
      by_frame_pointer_(order.Has(FrameSource::kFramePointer)),
      rows_(order, limits, machine) {
  UnwindOrder other = order;
  std::vector<FrameSource>& sources = other.sources;
  const auto sframe = std::find(sources.begin(), sources.end(), FrameSource::kSFrame);
  const auto eh_frame = std::find(sframe, sources.end(), FrameSource::kEhFrame);
  if (eh_frame == sources.end()) return;
  std::iter_swap(sframe, eh_frame);
  extra_rows_.emplace(other, limits, machine);
}

// Finds the row of a frame.
std::optional<EndReason> Walker::LookUp(const MappedCode& code, const StackCopy& copy, FrameState* state,
                                        Found* found) {
  if (IsOfOtherMachine(code, *machine_)) {
    *found = {.address = state->lookup_pc() - code.bias};
    return std::nullopt;
  }
  found->address = state->lookup_pc() - code.bias;
  found->plausible_fp = PlausibleFramePointer(*state, copy);
  found->may_skip = found->ends = found->is_cut = false;
  found->is_followable = true;
  found->outcome = asked_->Find(code.module, found->address, found->plausible_fp, &found->row);
  if (state->exact && by_frame_pointer_ && !IsDescribed(*found)) {
    Row row;
    if (asked_->FindInterrupted(code.module, found->address, &row) == FindOutcome::kFound) {
      found->outcome = FindOutcome::kFound;
      found->row = row;
    }
  }
  found->is_fixed = IsDescribed(*found);
  const bool in_syscall = state->full && state->unknown != 0;
  if (in_syscall && state->exact && found->outcome == FindOutcome::kNotHere) {
    const bool is_child = state->registers.value[machine_->result] == 0;  // of clone, if it is that
    found->outcome = asked_->FindAtClone(code.module, found->address, is_child, &found->row);
    found->is_followable = false;
  }
  // Nothing begins in the middle of a row, which is where most calls return to.
  const bool within = IsDescribed(*found) && found->address + 1 < found->row.end;
  if (state->exact || within) return std::nullopt;
  found->is_fixed = false;
  if (state->pc < code.end) {
    if (std::optional<EndReason> unknown = LookUpTrampoline(code, copy, state, found)) return unknown;
  }
  if (found->outcome == FindOutcome::kNotHere && by_frame_pointer_ && HasPushedFramePointer(*state)) {
    found->outcome = FindOutcome::kFound;
    found->row = FramePointerRow(*machine_);
  }
  LookUpByCode(code, *state, found);
  return std::nullopt;
}

// What no table describes may be read as code itself: of musl, and of what CPython makes for `-X perf`, which is whole
// and calls what returns. Where the code of a module ends in a call that does not return, it goes on in a function that
// has nothing to do with it, which mostly shows. So that is a guess, too, unless the frame pointer says the same.
void Walker::LookUpByCode(const MappedCode& code, const FrameState& state, Found* found) {
  if (!by_frame_pointer_ || state.exact || IsDescribed(*found)) return;
  Row row;
  if (!code.copied.empty()) {
    const ReturnPath path = FollowReturn(code.copied, OffsetInCopy(state.pc - code.begin, code.copied.size()));
    row = ReturnPathRow(*machine_, path, state.pc);
    if (path.kind != ReturnPath::Kind::kReturns) return;
  } else {
    if (asked_->FindByCode(code.module, found->address + 1, &row) != FindOutcome::kFound) return;
    if (row.ra.place == Place::kUndefined && found->plausible_fp) return;
    if (IsGuess(*found) && IsFrameOfFramePointer(row, state, *machine_)) return;
    found->may_skip = true;
  }
  found->outcome = FindOutcome::kFound;
  found->row = row;
}

// A handler returns to the first byte of the trampoline, which nobody calls: so the byte before it may be any
// function's, and says nothing. But as a function may end in a call that never returns, such an address is the
// trampoline's only where the stack holds what it is for. Otherwise says why that is not known.
std::optional<EndReason> Walker::LookUpTrampoline(const MappedCode& code, const StackCopy& copy, FrameState* state,
                                                  Found* found) {
  Found at_pc = *found;
  ++at_pc.address;
  const bool begins = asked_->BeginsSignalFrame(code.module, at_pc.address);
  at_pc.outcome = asked_->Find(code.module, at_pc.address, found->plausible_fp, &at_pc.row);
  bool trampoline = false;
  if (begins) {
    if (std::optional<EndReason> unknown = FindKernelContext(copy, *state, &trampoline)) {
      state->needed = state->sp;
      return unknown;
    }
  } else if (IsKernelContext(copy, *state)) {  // that of musl, which has no row, or of Go, whose row is wrong
    trampoline = true;
    at_pc.outcome = FindOutcome::kFound;
    at_pc.row = KernelContextRow(*machine_);
  }
  if (!trampoline) return std::nullopt;
  state->exact = true;
  *found = at_pc;
  return std::nullopt;
}

// Goes from a function that has called another one to its own caller.
std::optional<EndReason> Walker::StepFromLandmark(const GoLandmark& landmark, const StackCopy& copy, FrameState* state,
                                                  Found* found) const {
  if (landmark.kind == GoLandmark::Kind::kWithoutFrame) {
    found->row = WithoutFrameRow(*machine_, landmark.code);
    return Apply(found->row, copy, state);
  }
  found->ends = true;
  return landmark.kind == GoLandmark::Kind::kSwitch ? EndReason::kOtherStack : EndReason::kComplete;
}

// Ends the walk at start code. If it is a caller, its frame pointer of 0 has shown that.
std::optional<EndReason> Walker::StepFromStart(FrameState* state, Found* found) const {
  found->row = FramePointerRow(*machine_);
  found->is_followable &= !state->exact;
  return EndReason::kComplete;
}

// By a frame pointer that could be one the walk would go on. One of 0 is said by the stack.
EndReason Walker::EndWithoutRow(const MappedCode& code, const FrameState& state, Found* found) const {
  found->row = FramePointerRow(*machine_);
  found->is_followable &= by_frame_pointer_ && !found->plausible_fp;
  found->is_cut = !(state.fp_known && state.fp == 0);
  return WithoutRow(code);
}

// Goes from the last frame of `out`, whose row was looked up, to its caller; says why the walk ends if it does. Leaves
// in `found` what it went by.
std::optional<EndReason> Walker::Step(const MappedCode& code, const StackCopy& copy, FrameState* state, Frame* frame,
                                      Found* found) {
  if (const GoLandmark* landmark = GoLandmarkAt(code, found->address)) {
    found->is_fixed = landmark->kind == GoLandmark::Kind::kBase;
    // Where one of the others was interrupted, it may not have come to what it is known for.
    if (found->is_fixed || !state->exact) return StepFromLandmark(*landmark, copy, state, found);
  }
  const auto is_start = [&] { return IsStartCode(code, found->address, copy, *state); };
  switch (found->outcome) {
    case FindOutcome::kFound:
      break;
    case FindOutcome::kExpression:
      return EndReason::kExpression;
    case FindOutcome::kNotHere:
      return is_start() ? StepFromStart(state, found) : EndWithoutRow(code, *state, found);
    case FindOutcome::kCorrupt:
      return is_start() ? StepFromStart(state, found) : WithoutRow(code);
  }
  found->ends = found->row.ra.place == Place::kUndefined;
  if (found->row.source == FrameSource::kFramePointer) {
    if (is_start()) return StepFromStart(state, found);
    if (found->ends) return EndReason::kGuessedEnd;
    const bool is_by_fp = found->row.cfa.reg == machine_->fp;
    if (is_by_fp && EndsFramePointerChain(*state)) return EndReason::kGuessedEnd;
    if (is_by_fp && !found->plausible_fp) return EndWithoutRow(code, *state, found);
  }
  // The "return address" into a trampoline is where it begins; nothing there calls the handler.
  if (found->row.signal) frame->exact = true;
  return Apply(found->row, copy, state);
}

void Walker::Trace(const Found& found, uint64_t lookup_pc, WalkTrace* trace) {
  trace->is_fixed &= found.is_fixed && !found.row.signal;
  trace->is_followable &= found.is_followable;
  trace->is_cut |= found.is_cut;
  trace->steps.push_back({.lookup_pc = lookup_pc, .row = found.row, .is_end = found.ends});
}

// The BPF programs learn no such walk: the code at an address changes, and addresses do not show what an interpreter
// runs.
std::optional<EndReason> Walker::StepFromMade(const MadeFrame& made, const StackCopy& copy, FrameState* state,
                                              KeptFrames* kept, WalkTrace* trace) {
  Frame frame = made.frame;
  frame.source = state->source;
  kept->Add(frame, state->pc);
  if (trace != nullptr) {
    trace->is_fixed = trace->is_followable = false;
    if (!kept->is_cut()) trace->steps.push_back({.lookup_pc = state->lookup_pc()});
  }
  return made.row ? Apply(*made.row, copy, state) : EndReason::kGeneratedCode;
}

// Holes are also what assemblers leave that write no tables: functions that call nobody, have no frame, and leave the
// register as it was in the caller, or use it for something else. One that was interrupted tells itself apart from code
// that keeps a frame pointer by its caller, which is of compiled and described code; of the others it is of their own.
EndReason Walker::Run(const AddressSpace& space, const StackCopy& copy, FrameState* state, KeptFrames* kept,
                      WalkTrace* trace) {
  const size_t most = MostFrames(copy, *machine_);
  bool leaf_in_hole = false;  // the frame before this one
  bool may_skip = false;      // frames between those that were found
  const MappedCode* code = nullptr;
  Found found;
  for (;;) {
    const uint64_t pc = state->lookup_pc();
    const bool is_in_callees = code != nullptr && pc >= code->begin && pc < code->end;
    if (!is_in_callees) code = space.Find(pc);
    if (code == nullptr) return kept->count() == 0 ? EndReason::kNotMapped : EndReason::kBadReturnAddress;
    if (kept->count() == most) return EndReason::kFrameLimit;
    if (made_ != nullptr && code->module == nullptr) [[unlikely]] {
      if (const std::optional<MadeFrame> made = made_->Find(*state, copy)) {
        may_skip |= !made->is_proven;
        leaf_in_hole = false;
        if (const auto end = StepFromMade(*made, copy, state, kept, trace)) return Judged(*end, may_skip);
        continue;
      }
    }
    if (std::optional<EndReason> end = LookUp(*code, copy, state, &found)) return *end;
    if (leaf_in_hole && !IsGuess(found)) return EndReason::kNoRow;
    const bool is_by_fp = IsGuess(found) && found.row.cfa.reg == machine_->fp;
    leaf_in_hole = state->exact && is_by_fp && IsOfHole(found.row);
    const bool may_skip_here = found.may_skip || (is_by_fp && !may_skip && !KeepsFramePointer(space, *code) &&
                                                  MaySkipFrames(space, *state, copy));
    Frame frame;
    frame.code = code->object();
    frame.address = state->pc - code->bias;
    frame.kind = code->module != nullptr ? FrameKind::kNative : FrameKind::kGenerated;
    frame.source = state->source;
    frame.exact = state->exact;
    Frame& stays = kept->Add(frame, state->pc);
    const std::optional<EndReason> end = Step(*code, copy, state, &stays, &found);
    if (trace != nullptr && !kept->is_cut()) Trace(found, pc, trace);
    if (end) return Judged(*end, may_skip);
    may_skip |= may_skip_here;
  }
}

void Walker::Walk(const AddressSpace& space, const Registers& registers, bool in_syscall, const StackCopy& copy,
                  UserStack* out, WalkTrace* trace, const MadeCode* made) {
  made_ = made;
  const auto walk = [&](RowFinder* rows) {
    out->frames.clear();
    if (trace != nullptr) *trace = {};
    FrameState state = LeafState(registers, in_syscall, *machine_);
    asked_ = rows;
    KeptFrames kept(max_frames_, &out->frames, trace != nullptr ? &trace->pcs : nullptr);
    out->end = kept.Finish(Run(space, copy, &state, &kept, trace));
    needed_ = {state.needed, state.guessed};
  };
  walk(&rows_);
  // The rows of SFrame follow no register but two. Where a frame needs another one, those of .eh_frame may know it.
  if (out->end == EndReason::kRegisterUnknown && extra_rows_) walk(&*extra_rows_);
  for (const Frame& frame : out->frames) stats_.frames[static_cast<size_t>(frame.source)] += frame.is_marker() ? 0 : 1;
  ++stats_.walks;
  ++stats_.ends[static_cast<size_t>(out->end)];
}

}  // namespace offcpu

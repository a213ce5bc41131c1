#include "unwind/walk.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "unwind/apply.h"
#include "unwind/frame_pointer.h"

namespace offcpu {
namespace {

// What was captured has no more frames than this, each of which has a return address: a walk that finds more goes in
// circles, through signal frames of a hostile stack.
size_t MostFrames(const StackCopy& copy, const Machine& machine) {
  size_t bytes = copy.end - copy.begin;
  for (const StackPiece& piece : copy.pieces) bytes += piece.bytes.size();
  return bytes / machine.word_bytes + 2;
}

// A walk that may have led past frames is not known to be complete.
EndReason Judged(EndReason end, bool may_skip) {
  return end == EndReason::kComplete && may_skip ? EndReason::kGuessedEnd : end;
}

// A walk goes the same way again only through the same version of the code.
void TraceMade(const MadeFrame& made, const StackCopy& copy, const FrameState& state, WalkTrace* trace) {
  WalkTrace::Made traced = {.step = trace->steps.size(), .stamp = made.stamp, .shown = made.shown};
  bool is_fixed = made.is_proven && made.row.has_value() && made.stamp.address != 0;
  for (size_t i = 0; i < kShownWords; ++i) {
    if (made.shown[i] == 0) continue;
    const uint64_t address = state.fp - made.shown[i] * uint64_t{state.machine->word_bytes};
    const std::optional<uint64_t> value = ReadWord(copy.memory, address, state.machine->word_bytes);
    is_fixed &= value.has_value();
    traced.shown_values[i] = value.value_or(0);
  }
  trace->is_fixed &= is_fixed;
  trace->is_followable &= is_fixed;
  trace->steps.push_back({.lookup_pc = state.lookup_pc(), .row = made.row.value_or(UnwindRow())});
  if (is_fixed) trace->made.push_back(traced);
}

}  // namespace

Walker::Walker(const Machine& machine, const UnwindOrder& order, RowFinderLimits limits, size_t max_frames)
    : machine_(&machine), max_frames_(max_frames), strategies_(machine, order, limits) {
  UnwindOrder other = order;
  std::vector<FrameSource>& sources = other.sources;
  const auto sframe = std::find(sources.begin(), sources.end(), FrameSource::kSFrame);
  const auto eh_frame = std::find(sframe, sources.end(), FrameSource::kEhFrame);
  if (eh_frame == sources.end()) return;
  std::iter_swap(sframe, eh_frame);
  extra_strategies_.emplace(machine, other, limits);
}

void Walker::Trace(const FoundCaller& found, uint64_t lookup_pc, WalkTrace* trace) {
  trace->is_fixed &= found.is_fixed && !found.row.signal;
  trace->is_followable &= found.is_followable;
  trace->is_cut |= found.is_cut;
  trace->steps.push_back({.lookup_pc = lookup_pc, .row = found.row, .is_end = found.ends});
}

std::optional<EndReason> Walker::StepFromMade(const MadeFrame& made, const StackCopy& copy, FrameState* state,
                                              KeptFrames* kept, WalkTrace* trace) {
  Frame frame = made.frame;
  frame.source = state->source;
  kept->Add(frame, state->pc, state->sp);
  if (trace != nullptr && !kept->is_cut()) TraceMade(made, copy, *state, trace);
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
  FoundCaller found;
  for (;;) {
    const uint64_t pc = state->lookup_pc();
    const bool is_in_callees = code != nullptr && pc >= code->begin && pc < code->end;
    if (!is_in_callees) code = space.Find(pc);
    if (code == nullptr) return kept->count() == 0 ? EndReason::kNotMapped : EndReason::kBadReturnAddress;
    if (kept->count() == most) return EndReason::kFrameLimit;
    if (std::optional<EndReason> end = asked_->Find(*code, copy, made_, state, &found)) return *end;
    if (found.made != nullptr) [[unlikely]] {
      may_skip |= !found.made->is_proven;
      leaf_in_hole = false;
      if (const auto end = StepFromMade(*found.made, copy, state, kept, trace)) return Judged(*end, may_skip);
      continue;
    }
    if (leaf_in_hole && !found.IsGuess()) return EndReason::kNoRow;
    const bool is_by_fp = found.IsGuess() && found.row.cfa.reg == machine_->fp;
    leaf_in_hole = state->exact && is_by_fp && IsOfHole(found.row);
    const bool may_skip_here =
        found.may_skip || (is_by_fp && !may_skip && !found.keeps_fp && MaySkipFrames(space, *state, copy));
    Frame frame;
    frame.code = code->object();
    frame.address = state->pc - code->bias;
    frame.kind = code->module != nullptr ? FrameKind::kNative : FrameKind::kGenerated;
    frame.source = state->source;
    frame.exact = state->exact;
    Frame& stays = kept->Add(frame, state->pc, state->sp);
    const std::optional<EndReason> end = asked_->Step(*code, copy, state, &stays, &found);
    if (trace != nullptr && !kept->is_cut()) Trace(found, pc, trace);
    if (end) return Judged(*end, may_skip);
    may_skip |= may_skip_here;
  }
}

void Walker::Walk(const AddressSpace& space, const Registers& registers, bool in_syscall, const StackCopy& copy,
                  UserStack* out, WalkTrace* trace, const MadeCode* made) {
  made_ = made;
  const auto walk = [&](Strategies* strategies) {
    out->frames.clear();
    if (trace != nullptr) *trace = {};
    FrameState state = LeafState(registers, in_syscall, *machine_);
    asked_ = strategies;
    KeptFrames kept(max_frames_, &out->frames, trace);
    out->end = kept.Finish(Run(space, copy, &state, &kept, trace));
    needed_ = {state.needed, state.guessed};
  };
  walk(&strategies_);
  // The rows of SFrame follow no register but two. Where a frame needs another one, those of .eh_frame may know it.
  if (out->end == EndReason::kRegisterUnknown && extra_strategies_) walk(&*extra_strategies_);
  for (const Frame& frame : out->frames) stats_.frames[static_cast<size_t>(frame.source)] += frame.is_marker() ? 0 : 1;
  ++stats_.walks;
  ++stats_.ends[static_cast<size_t>(out->end)];
}

}  // namespace offcpu

#include "unwind/strategies.h"

#include "process/return_path.h"
#include "unwind/frame_pointer.h"

namespace offcpu {
namespace {

bool IsOfOtherMachine(const MappedCode& code, const Machine& machine) {
  return code.module != nullptr && code.module->machine != &machine;
}

// Why a walk ends in code that nothing describes.
EndReason WithoutRow(const MappedCode& code) {
  return code.module == nullptr ? EndReason::kGeneratedCode : EndReason::kNoRow;
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

// The function that `address` is in, if stacks begin or change there.
const StackLandmark* LandmarkAt(const MappedCode& code, uint64_t address) {
  if (code.module == nullptr) return nullptr;
  for (const StackLandmark& landmark : code.module->landmarks) {
    if (address >= landmark.code.begin && address < landmark.code.end) return &landmark;
  }
  return nullptr;
}

// Is it known that the frame pointer is that of the frame? Functions whose calls were looked at have one there, but
// need not have it yet, or any more, where they were interrupted.
bool KeepsFramePointer(const MappedCode& code, bool exact, uint64_t address) {
  if (code.module == nullptr) return false;
  return code.module->keeps_frame_pointer || (!exact && Contains(code.module->tables().framed, address));
}

// Does the row, whose CFA is the stack pointer's or the frame pointer's, lead to where the frame pointer leads to?
bool LeadsToSameCfa(const UnwindRow& row, const FrameState& state, const Machine& machine) {
  const auto cfa = [&](const UnwindRow& of) {
    return (of.cfa.reg == machine.fp ? state.fp : state.sp) + static_cast<uint64_t>(int64_t{of.cfa.offset});
  };
  return cfa(row) == cfa(FramePointerRow(machine));
}

// Does it take the caller's frame pointer from there, too?
bool IsFrameOfFramePointer(const UnwindRow& row, const FrameState& state, const Machine& machine) {
  const UnwindRow by_fp = FramePointerRow(machine);
  return row.fp.place == by_fp.fp.place && row.fp.offset == by_fp.fp.offset && LeadsToSameCfa(row, state, machine);
}

// Is the register that of the interrupted frame, though the row says nothing of it? That of a caller leads further up.
bool IsOwnFramePointer(const UnwindRow& row, const FrameState& state, const Machine& machine) {
  return state.fp_known && row.cfa.reg == machine.sp && row.fp.place == Place::kUnchanged &&
         row.cfa.offset >= FramePointerRow(machine).cfa.offset && LeadsToSameCfa(row, state, machine);
}

}  // namespace

// The list. Later strategies improve on what earlier ones have left in `found`, where that is nothing or a guess. Step
// goes on with those that overrule it.
std::optional<EndReason> Strategies::Find(const MappedCode& code, const StackCopy& copy, const MadeCode* made,
                                          FrameState* state, FoundCaller* found) {
  // 1. A runtime's code: only the runtime knows it, and the frame pointer may be anything there.
  found->made = nullptr;
  if (made != nullptr && code.module == nullptr) [[unlikely]] {
    made_ = made->Find(*state, copy);
    found->made = made_ ? &*made_ : nullptr;
    if (made_) return std::nullopt;
  }
  // Nothing for code of another machine: the stack of the one is not walked by the rules of the other.
  if (IsOfOtherMachine(code, *machine_)) {
    *found = {.address = state->lookup_pc() - code.bias};
    return std::nullopt;
  }
  // 2. Tables: they are made to say it.
  // 3. The frame pointer, in RowFinder::Find, too: code that tables leave out, or that has none, may well keep one.
  found->LookUpAt(state->lookup_pc() - code.bias, PlausibleFramePointer(*state, copy));
  // What a guess leads to in code that a runtime does not know yet, rows that it has later need not.
  found->is_followable = made == nullptr || code.module != nullptr;
  found->outcome = rows_.Find(code.module, found->address, found->plausible_fp, &found->row);
  found->keeps_fp = KeepsFramePointer(code, state->exact, found->address);
  // 4. Interrupted code: it may have no frame yet, or none any more, which the frame pointer does not show.
  if (state->exact && by_frame_pointer_ && !found->IsDescribed()) FindInterrupted(code, *state, found);
  // Where the frame pointer would have been followed had it been one, its value has decided as well.
  const bool is_by_value = !state->exact && !found->plausible_fp && rows_.MayGoByFramePointer(code.module);
  found->is_fixed = found->IsDescribed() && !is_by_value;
  // 5. The hole of clone: it returns twice, for which tables have no word.
  if (state->exact && found->outcome == FindOutcome::kNotHere) FindAtClone(code, *state, found);
  // Nothing begins in the middle of a row, which is where most calls return to.
  const bool within = found->IsDescribed() && found->address + 1 < found->row.end;
  if (state->exact || within) return std::nullopt;
  found->is_fixed = false;
  // 6. A signal trampoline: nobody calls it, so what the byte before it is in says nothing.
  if (std::optional<EndReason> unknown = FindTrampoline(code, copy, state, found)) return unknown;
  // 7. A pushed frame pointer: only a function's begin makes it point to where the stack ended at the call.
  if (found->outcome == FindOutcome::kNotHere && by_frame_pointer_ && HasPushedFramePointer(*state)) {
    found->outcome = FindOutcome::kFound;
    found->row = FramePointerRow(*machine_);
  }
  // 8. Code read as code: what it does until it returns shows where its own return address is.
  const bool is_own_frame = found->IsGuess() && found->keeps_fp;
  if (by_frame_pointer_ && !state->exact && !found->IsDescribed() && !is_own_frame) FindByCode(code, *state, found);
  return std::nullopt;
}

void Strategies::FindInterrupted(const MappedCode& code, const FrameState& state, FoundCaller* found) {
  UnwindRow row;
  if (rows_.FindInterrupted(code.module, found->address, &row) != FindOutcome::kFound) return;
  found->outcome = FindOutcome::kFound;
  found->row = row;
  // Go's tables have no word for the frame pointer. Where it is that of this frame, the caller's lies behind it.
  if (IsOwnFramePointer(row, state, *machine_)) found->row.fp = FramePointerRow(*machine_).fp;
}

// For a thread that is in a system call, or comes out of one.
void Strategies::FindAtClone(const MappedCode& code, const FrameState& state, FoundCaller* found) {
  const bool in_syscall = state.full && state.unknown != 0;
  if (!in_syscall) return;
  const bool is_child = state.registers.value[machine_->result] == 0;  // of clone, if it is that
  found->outcome = rows_.FindAtClone(code.module, found->address, is_child, &found->row);
  found->is_followable = false;
}

// A handler returns to the first byte of the trampoline. But as a function may end in a call that never returns, such
// an address is the trampoline's only where the stack holds what it is for. Otherwise says why that is not known.
std::optional<EndReason> Strategies::FindTrampoline(const MappedCode& code, const StackCopy& copy, FrameState* state,
                                                    FoundCaller* found) {
  if (state->pc >= code.end) return std::nullopt;
  FoundCaller at_pc = *found;
  ++at_pc.address;
  const bool begins = rows_.BeginsSignalFrame(code.module, at_pc.address);
  at_pc.outcome = rows_.Find(code.module, at_pc.address, found->plausible_fp, &at_pc.row);
  bool trampoline = false;
  if (begins) {
    if (std::optional<EndReason> unknown = FindKernelContext(copy, *state, &trampoline)) {
      state->needed = state->sp;
      return unknown;
    }
  } else if (IsKernelContext(copy, *state)) {  // of a trampoline that has no row (musl's), or a wrong one
    trampoline = true;
    at_pc.outcome = FindOutcome::kFound;
    at_pc.row = KernelContextRow(*machine_);
  }
  if (!trampoline) return std::nullopt;
  state->exact = true;
  *found = at_pc;
  return std::nullopt;
}

// Copies of one function are whole, and call what returns. Where the code of a module ends in a call that does not
// return, it goes on in a function that has nothing to do with it, which mostly shows. So that is a guess, too, unless
// the frame pointer says the same.
void Strategies::FindByCode(const MappedCode& code, const FrameState& state, FoundCaller* found) {
  UnwindRow row;
  if (!code.copied.empty()) {
    const ReturnPath path = FollowReturn(code.copied, code.OffsetInCopy(state.pc));
    row = ReturnPathRow(*machine_, path, state.pc);
    if (path.kind != ReturnPath::Kind::kReturns) return;
  } else {
    // Where nothing says that hardly any table describes the module, its code only confirms a guess.
    const bool is_kept = code.module != nullptr && !code.module->tables().text.bytes.empty();
    if (!is_kept && !found->IsGuess()) return;
    if (rows_.FindByCode(code.module, found->address + 1, &row) != FindOutcome::kFound) return;
    if (row.ra.place == Place::kUndefined && found->plausible_fp) return;
    if (found->IsGuess() && IsFrameOfFramePointer(row, state, *machine_)) {
      // Neither has had to do with the other: the code goes by how far the stack pointer is moved.
      found->keeps_fp = row.cfa.reg == machine_->sp;
      return;
    }
    found->may_skip = true;
    if (!is_kept) return;
  }
  found->outcome = FindOutcome::kFound;
  found->row = row;
}

// Goes from a function that has called another one to its own caller.
std::optional<EndReason> Strategies::StepFromLandmark(const StackLandmark& landmark, const StackCopy& copy,
                                                      FrameState* state, FoundCaller* found) const {
  if (landmark.kind == StackLandmark::Kind::kWithoutFrame) {
    found->row = WithoutFrameRow(*machine_, landmark.code);
    return Apply(found->row, copy, state);
  }
  found->ends = true;
  return landmark.kind == StackLandmark::Kind::kSwitch ? EndReason::kOtherStack : EndReason::kComplete;
}

// Ends the walk at start code. If it is a caller, its frame pointer of 0 has shown that.
std::optional<EndReason> Strategies::StepFromStart(const FrameState& state, FoundCaller* found) const {
  found->row = FramePointerRow(*machine_);
  found->is_followable &= !state.exact;
  return EndReason::kComplete;
}

// By a frame pointer that could be one the walk would go on. One of 0 is said by the stack.
EndReason Strategies::EndWithoutRow(const MappedCode& code, const FrameState& state, FoundCaller* found) const {
  found->row = FramePointerRow(*machine_);
  found->is_followable &= by_frame_pointer_ && !found->plausible_fp;
  found->is_cut = !(state.fp_known && state.fp == 0);
  return WithoutRow(code);
}

std::optional<EndReason> Strategies::Step(const MappedCode& code, const StackCopy& copy, FrameState* state,
                                          Frame* frame, FoundCaller* found) const {
  // 9. A function at which stacks begin or change: its row does not know that.
  if (const StackLandmark* landmark = LandmarkAt(code, found->address)) {
    found->is_fixed = landmark->kind == StackLandmark::Kind::kBase;
    // Where one of the others was interrupted, it may not have come to what it is known for.
    if (found->is_fixed || !state->exact) return StepFromLandmark(*landmark, copy, state, found);
  }
  // 10. Start code, instead of a guess or nothing: nobody calls it.
  const auto is_start = [&] { return IsStartCode(code, found->address, copy, *state); };
  switch (found->outcome) {
    case FindOutcome::kFound:
      break;
    case FindOutcome::kExpression:
      return EndReason::kExpression;
    case FindOutcome::kNotHere:
      return is_start() ? StepFromStart(*state, found) : EndWithoutRow(code, *state, found);
    case FindOutcome::kCorrupt:
      return is_start() ? StepFromStart(*state, found) : WithoutRow(code);
  }
  found->ends = found->row.ra.place == Place::kUndefined;
  if (found->row.source == FrameSource::kFramePointer) {
    if (is_start()) return StepFromStart(*state, found);
    if (found->ends) return EndReason::kGuessedEnd;
    const bool is_by_fp = found->row.cfa.reg == machine_->fp;
    if (is_by_fp && EndsFramePointerChain(*state)) return EndReason::kGuessedEnd;
    if (is_by_fp && !found->plausible_fp) return EndWithoutRow(code, *state, found);
  }
  // The "return address" into a trampoline is where it begins; nothing there calls the handler.
  if (found->row.signal) frame->exact = true;
  return Apply(found->row, copy, state);
}

}  // namespace offcpu

#include "unwind/apply.h"

#include <span>

namespace offcpu {
namespace {

// The outcome of a read or of naming a register: a value or why there is none. Two whole words: an optional beside the
// value is put together byte by byte, and costs more than all else.
struct StackValue {
  uint64_t value = 0;         // of a read that failed: the address
  uint64_t failure_code = 0;  // 0: none, else one more than the EndReason

  bool failed() const { return failure_code != 0; }
  EndReason failure() const { return static_cast<EndReason>(failure_code - 1); }  // if it failed
};

inline StackValue Failed(EndReason reason, uint64_t address = 0) {
  return {address, static_cast<uint64_t>(reason) + 1};
}

// `base` + `offset`, which must not wrap.
inline StackValue Add(const StackValue& base, int32_t offset) {
  uint64_t sum = 0;
  if (base.failed()) return base;
  if (__builtin_add_overflow(base.value, int64_t{offset}, &sum)) return Failed(EndReason::kBadCfa);
  return {sum};
}

// The word at `address`, which the copy from the stack pointer upwards does not hold.
[[gnu::noinline]] StackValue LoadOfPieces(const Machine& machine, const StackCopy& copy, uint64_t address) {
  if (const std::optional<uint64_t> word = copy.WordOfPiece(address, machine.word_bytes)) return {*word};
  const std::optional<StackPart> part = copy.PartAt(address);
  if (!part.has_value()) return Failed(EndReason::kBadMemory);
  return Failed(part->Beyond(EndReason::kBadMemory), address);
}

// Compilers and kernels keep addresses at multiples of their size, so what is found elsewhere is none.
inline StackValue Load(const Machine& machine, const StackCopy& copy, const StackValue& from) {
  const uint64_t address = from.value;
  const uint64_t bytes = machine.word_bytes;
  if (from.failed()) return from;
  if (address % bytes != 0 || address > UINT64_MAX - bytes) return Failed(EndReason::kBadMemory);
  if (address < copy.begin || address + bytes > copy.end) return LoadOfPieces(machine, copy, address);
  const std::optional<uint64_t> word = ReadWord(copy.memory, address, machine.word_bytes);
  return word ? StackValue{*word} : Failed(EndReason::kBadMemory);
}

inline StackValue RegisterOf(const FrameState& state, uint8_t reg) {
  const Machine& machine = *state.machine;
  if (reg == machine.sp) return {state.sp};
  if (reg == machine.fp && state.fp_known) return {state.fp};
  if (reg == machine.extra && state.extra_known) return {state.extra};
  const bool known =
      state.full && reg < machine.pc && reg != machine.fp && reg != machine.extra && !(state.unknown >> reg & 1);
  return known ? StackValue{state.registers.value[reg]} : Failed(EndReason::kRegisterUnknown);
}

StackValue CfaOf(const CfaRule& rule, const StackCopy& copy, const FrameState& state) {
  const StackValue cfa = Add(RegisterOf(state, rule.reg), rule.offset);
  return rule.deref ? Add(Load(*state.machine, copy, cfa), rule.addend) : cfa;
}

// The caller's value by `rule`, for the places that name one.
[[gnu::always_inline]] inline StackValue Evaluate(const ValueRule& rule, uint64_t cfa, const StackCopy& copy,
                                                  const FrameState& state) {
  switch (rule.place) {
    case Place::kAtCfa:
      return Load(*state.machine, copy, Add({cfa}, rule.offset));
    case Place::kAtRegister:
      return Load(*state.machine, copy, Add(RegisterOf(state, rule.reg), rule.offset));
    case Place::kInRegister:
      return RegisterOf(state, rule.reg);
    case Place::kUndefined:
    case Place::kUnchanged:
      break;
  }
  return Failed(EndReason::kRegisterUnknown);
}

// Ends the walk for what could not be read.
EndReason EndAt(const StackValue& value, FrameState* state) {
  state->needed = value.value;
  return value.failure();
}

// The rule says that the CFA is the sp of a ucontext: then all of the context is there.
bool NamesKernelContext(const Machine& machine, const UnwindRow& row) {
  return row.signal && row.cfa == KernelContextRow(machine).cfa;
}

std::optional<EndReason> RestoreContext(const StackCopy& copy, FrameState* state) {
  Registers registers;
  const Machine& machine = *state->machine;
  for (int reg = 0; reg < machine.register_count(); ++reg) {
    StackValue value = Load(machine, copy, Add({state->sp}, machine.context[reg]));
    if (value.failed()) return EndAt(value, state);
    registers.value[reg] = value.value;
  }
  if (registers.value[machine.pc] == 0) return EndReason::kBadReturnAddress;
  const bool guessed = state->guessed;
  *state = LeafState(registers, /*in_syscall=*/false, machine);
  state->guessed = guessed;
  state->source = FrameSource::kSignalTrampoline;
  return std::nullopt;
}

// Sets `alike`: does the signal frame at `sp` say all of `words`? Otherwise says which word could not be read, and why.
std::optional<EndReason> Compare(const Machine& machine, const StackCopy& copy, uint64_t sp,
                                 std::span<const ContextWord> words, bool* alike) {
  *alike = true;
  for (const ContextWord& word : words) {
    const StackValue value = Load(machine, copy, Add({sp}, word.offset));
    if (value.failed()) return value.failure();
    *alike &= (value.value & word.mask) == word.value + (word.from_sp ? sp : 0);
  }
  return std::nullopt;
}

// Is the stack of this frame another one than those of which parts were captured? A handler may have a stack of its
// own, above the interrupted one or below it; what lies above a part may be on the same stack, as far as a capture ever
// reaches.
bool IsElsewhere(const StackCopy& copy, uint64_t sp) {
  if (sp >= copy.begin && sp <= copy.end) return false;
  const std::optional<StackPart> part = copy.PartAt(sp);
  if (!part.has_value()) return true;
  return sp > part->end && (!part->goes_on() || sp - part->begin > kMaxStackCopyBytes);
}

// Why a frame that ends at `cfa` is not known; nothing if its end is in the copy or in a piece.
std::optional<EndReason> EndBeyond(const StackCopy& copy, uint64_t cfa) {
  if (cfa >= copy.begin && cfa <= copy.end) return std::nullopt;
  const std::optional<StackPart> part = copy.PartAt(cfa);
  if (!part.has_value()) return EndReason::kBadCfa;
  if (cfa <= part->end) return std::nullopt;
  return part->Beyond(EndReason::kBadCfa);
}

// The caller's sp, if it is not the CFA. It is above this frame's, too.
[[gnu::noinline]] std::optional<EndReason> KeptSp(const UnwindRow& row, const StackCopy& copy, FrameState* state,
                                                  uint64_t* sp) {
  const Machine& machine = *state->machine;
  const StackValue kept =
      Load(machine, copy, Add(RegisterOf(*state, machine.fp), int32_t{row.kept_sp} * machine.word_bytes));
  if (kept.failed()) return EndAt(kept, state);
  if (kept.value <= state->sp || kept.value % machine.word_bytes != 0) return EndReason::kBadCfa;
  if (const std::optional<EndReason> beyond = EndBeyond(copy, kept.value))
    return EndAt(Failed(*beyond, kept.value), state);
  *sp = kept.value;
  return std::nullopt;
}

uint64_t WithoutSignature(const Machine& machine, uint64_t address) {
  return address & ((uint64_t{1} << machine.address_bits) - 1);
}

}  // namespace

FrameState LeafState(const Registers& registers, bool in_syscall, const Machine& machine) {
  FrameState state;
  state.machine = &machine;
  state.pc = registers.value[machine.pc];
  state.sp = registers.value[machine.sp];
  state.fp = registers.value[machine.fp];
  state.extra = registers.value[machine.extra];
  state.full = true;
  if (in_syscall) state.unknown = machine.lost_in_syscall;
  state.registers = registers;
  return state;
}

std::optional<EndReason> FindKernelContext(const StackCopy& copy, const FrameState& state, bool* found) {
  return Compare(*state.machine, copy, state.sp, state.machine->context_like, found);
}

bool IsKernelContext(const StackCopy& copy, const FrameState& state) {
  const Machine& machine = *state.machine;
  if (machine.context_sure.empty()) return false;
  bool found = false;
  const bool unknown = Compare(machine, copy, state.sp, machine.context_sure, &found).has_value();
  return !unknown && found && state.sp % machine.context_align == 0;
}

bool BeginsProcessStack(const Machine& machine, const StackCopy& copy, uint64_t sp) {
  constexpr uint64_t kAlignment = 16;
  constexpr uint64_t kMostArguments = 1 << 16;
  const uint64_t word = machine.word_bytes;
  const StackValue count = Load(machine, copy, {sp});
  if (sp % kAlignment != 0 || count.failed() || count.value == 0 || count.value > kMostArguments) return false;
  const StackValue first = Load(machine, copy, {sp + word});
  const StackValue behind = Load(machine, copy, {sp + word * (count.value + 1)});
  return !first.failed() && first.value > sp && !behind.failed() && behind.value == 0;
}

std::optional<EndReason> Apply(const UnwindRow& row, const StackCopy& copy, FrameState* state) {
  if (row.ra.place == Place::kUndefined) return EndReason::kComplete;
  if (IsElsewhere(copy, state->sp)) return EndAt(Failed(EndReason::kOtherStack, state->sp), state);
  const Machine& machine = *state->machine;
  if (NamesKernelContext(machine, row)) return RestoreContext(copy, state);
  state->guessed |= row.source == FrameSource::kFramePointer;
  const StackValue cfa = CfaOf(row.cfa, copy, *state);
  if (cfa.failed()) return EndAt(cfa, state);
  const bool may_stay = row.ra.place == Place::kInRegister &&
                        (state->source == FrameSource::kRegisters || (state->full && !machine.call_pushes));
  // What a signal has interrupted may be on any stack.
  const bool is_interrupted = row.signal && row.cfa.deref;
  const bool rises = cfa.value > state->sp || (cfa.value == state->sp && may_stay) || is_interrupted;
  if (cfa.value % machine.word_bytes != 0 || !rises) return EndReason::kBadCfa;
  const std::optional<EndReason> beyond = is_interrupted ? std::nullopt : EndBeyond(copy, cfa.value);
  if (beyond) return EndAt(Failed(*beyond, cfa.value), state);
  const StackValue ra = Evaluate(row.ra, cfa.value, copy, *state);
  if (ra.failed()) return EndAt(ra, state);
  // Where calls leave it in a register, functions may sign it before they save it, whether their rows say so or not.
  const bool may_be_signed = row.mangled_ra || !machine.call_pushes;
  const uint64_t pc = may_be_signed ? WithoutSignature(machine, ra.value) : ra.value;
  if (pc == 0) return state->guessed ? EndReason::kGuessedEnd : EndReason::kComplete;
  uint64_t sp = cfa.value;
  if (row.kept_sp != 0) [[unlikely]] {
    if (const std::optional<EndReason> end = KeptSp(row, copy, state, &sp)) return end;
  }
  // Compilers leave a rule in place for a moment after the slot is gone; only who needs the value may complain.
  // Both follow from registers of this frame.
  const bool fp_moves = row.fp.place != Place::kUnchanged;
  const bool extra_moves = row.extra.place != Place::kUnchanged;
  const StackValue fp = fp_moves ? Evaluate(row.fp, cfa.value, copy, *state) : StackValue();
  const StackValue extra = extra_moves ? Evaluate(row.extra, cfa.value, copy, *state) : StackValue();
  if (fp_moves) {
    state->fp = fp.value;
    state->fp_known = !fp.failed();
  }
  if (extra_moves) {
    state->extra = extra.value;
    state->extra_known = !extra.failed();
  }
  state->pc = pc;
  state->sp = sp;
  state->exact = row.signal;
  state->full = false;
  state->source = row.source;
  return std::nullopt;
}

}  // namespace offcpu

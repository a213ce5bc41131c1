#include "unwind/apply.h"

#include <array>

#include "unwind/stack_value.h"

namespace offcpu {
namespace {

// What x86-64 Linux pushes for a signal handler (struct ucontext, its uc_mcontext at 40), which is at sp when the
// trampoline runs. By DWARF register number: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, rip.
constexpr std::array<uint16_t, kRegisterCount> kContextOffset = {144, 136, 152, 128, 112, 104, 120, 160, 40,
                                                                 48,  56,  64,  72,  80,  88,  96,  168};
static_assert(kKernelContextRow.cfa.offset == kContextOffset[kRsp]);
static_assert(kKernelContextRow.ra.offset == kContextOffset[kRip]);
static_assert(kKernelContextRow.fp.offset == kContextOffset[kRbp]);

// A type and not a function, so that what it is passed to can have it inline.
struct RegisterOf {
  StackValue operator()(const FrameState& state, uint8_t reg) const;
};

inline StackValue RegisterOf::operator()(const FrameState& state, uint8_t reg) const {
  if (reg == kRsp) return {state.sp};
  if (reg == kRbp && state.fp_known) return {state.fp};
  if (reg == kRbx && state.bx_known) return {state.bx};
  const bool known = state.full && reg < kRip && reg != kRbp && reg != kRbx && !(state.unknown >> reg & 1);
  return known ? StackValue{state.registers.value[reg]} : Failed(EndReason::kRegisterUnknown);
}

StackValue CallersValue(const ValueRule& rule, uint64_t cfa, const StackCopy& copy, const FrameState& state,
                        uint8_t reg) {
  return rule.place == Place::kUnchanged ? RegisterOf()(state, reg) : Evaluate(rule, cfa, copy, state, RegisterOf());
}

// The rule says that the CFA is the rsp of a ucontext at sp: then all of the context is there.
bool NamesKernelContext(const Row& row) { return row.signal && row.cfa == kKernelContextRow.cfa; }

std::optional<EndReason> RestoreContext(const StackCopy& copy, FrameState* state) {
  Registers registers;
  for (int reg = 0; reg < kRegisterCount; ++reg) {
    StackValue value = Load(copy, Add({state->sp}, kContextOffset[reg]));
    if (value.failed()) return value.failure();
    registers.value[reg] = value.value;
  }
  if (registers.pc() == 0) return EndReason::kBadReturnAddress;
  *state = LeafState(registers, /*in_syscall=*/false);
  state->source = FrameSource::kSignalTrampoline;
  return std::nullopt;
}

// Is the stack of this frame another one than the captured one? A handler may have a stack of its own, above the
// interrupted one or below it; what lies above the copy may be on the same stack, as far as a capture ever reaches.
bool IsElsewhere(const StackCopy& copy, const FrameState& state) {
  if (state.sp < copy.begin) return true;
  return state.sp > copy.end && (!copy.goes_on() || state.sp - copy.begin > kMaxStackCopyBytes);
}

}  // namespace

FrameState LeafState(const Registers& registers, bool in_syscall) {
  FrameState state;
  state.pc = registers.pc();
  state.sp = registers.sp();
  state.fp = registers.fp();
  state.bx = registers.value[kRbx];
  state.full = true;
  // The instruction keeps rip in rcx and rflags in r11, and the kernel uses rax for the result.
  if (in_syscall) state.unknown = 1u << kRax | 1u << kRcx | 1u << kR11;
  state.registers = registers;
  return state;
}

// By words that are alike in all of them: few flags, no link, and the segments of user mode on this machine.
std::optional<EndReason> FindKernelContext(const StackCopy& copy, const FrameState& state, bool* found) {
  constexpr uint64_t kMaxFlags = 0xff;  // there are three
  constexpr int32_t kSegments = 184;    // cs, gs, fs, ss, 16 bits each; gs and fs are not saved
  constexpr uint64_t kGsFs = 0x0000ffffffff0000;
  constexpr uint64_t kUserMode = 3;  // in cs
  const StackValue flags = Load(copy, {state.sp});
  const StackValue link = Load(copy, Add({state.sp}, 8));
  const StackValue segments = Load(copy, Add({state.sp}, kSegments));
  for (const StackValue& value : {flags, link, segments}) {
    if (value.failed()) return value.failure();
  }
  *found = flags.value <= kMaxFlags && link.value == 0 && (segments.value & kGsFs) == 0 &&
           (segments.value & kUserMode) == kUserMode;
  return std::nullopt;
}

bool IsKernelContext(const StackCopy& copy, const FrameState& state) {
  constexpr uint64_t kFlags = 6;                         // ss is saved, and restored as it is
  constexpr uint64_t kFlagXstate = 1;                    // where the processor has it
  constexpr uint64_t kSegments = 0x002b'0000'0000'0033;  // ss, fs, gs, cs of 64-bit user code
  constexpr uint64_t kFpstate = 448;  // a context of 304 bytes, a siginfo of 128; then the next multiple of 64
  constexpr uint64_t kFpstateAlign = 64;
  const auto word = [&](int32_t offset) { return Load(copy, Add({state.sp}, offset)); };
  const StackValue flags = word(0);
  const StackValue link = word(8);
  const StackValue segments = word(184);
  const StackValue fpstate = word(224);
  if (flags.failed() || link.failed() || segments.failed() || fpstate.failed()) return false;
  return (flags.value & ~kFlagXstate) == kFlags && link.value == 0 && segments.value == kSegments &&
         fpstate.value == state.sp + kFpstate && fpstate.value % kFpstateAlign == 0;
}

std::optional<EndReason> Apply(const Row& row, const StackCopy& copy, FrameState* state) {
  if (row.ra.place == Place::kUndefined) return EndReason::kComplete;
  if (IsElsewhere(copy, *state)) return EndReason::kOtherStack;
  if (NamesKernelContext(row)) return RestoreContext(copy, state);
  const StackValue cfa = CfaOf(row.cfa, copy, *state, RegisterOf());
  if (cfa.failed()) return cfa.failure();
  const bool may_stay = state->source == FrameSource::kRegisters && row.ra.place == Place::kInRegister;
  if (cfa.value % kStackWord != 0 || cfa.value < state->sp || (cfa.value == state->sp && !may_stay)) {
    return EndReason::kBadCfa;
  }
  if (cfa.value > copy.end) return copy.Beyond(EndReason::kBadCfa);
  const StackValue ra = Evaluate(row.ra, cfa.value, copy, *state, RegisterOf());
  if (ra.failed()) return ra.failure();
  if (ra.value == 0) return EndReason::kComplete;
  // Compilers leave a rule in place for a moment after the slot is gone; only who needs the value may complain.
  const StackValue fp = CallersValue(row.fp, cfa.value, copy, *state, kRbp);
  const StackValue bx = CallersValue(row.bx, cfa.value, copy, *state, kRbx);
  state->fp = fp.value;
  state->fp_known = !fp.failed();
  state->bx = bx.value;
  state->bx_known = !bx.failed();
  state->pc = ra.value;
  state->sp = cfa.value;
  state->exact = row.signal;
  state->full = false;
  state->source = row.source;
  return std::nullopt;
}

}  // namespace offcpu

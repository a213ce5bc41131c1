#include "unwind/aarch64.h"

#include "unwind/stack_value.h"

namespace offcpu {
namespace {

constexpr int32_t kContextLr = 552;  // from sp, as in kAArch64ContextRow

StackValue RegisterOf(const AArch64State& state, uint8_t reg) {
  if (reg == kAArch64Sp) return {state.sp};
  if (reg == kAArch64Fp && state.fp_known) return {state.fp};
  if (reg == kAArch64Lr && state.lr_known) return {state.lr};
  return Failed(EndReason::kRegisterUnknown);
}

uint64_t WithoutSignature(const AArch64State& state, uint64_t address) {
  return address & ((uint64_t{1} << state.va_bits) - 1);
}

}  // namespace

std::optional<EndReason> ApplyAArch64(const Row& row, const StackCopy& copy, AArch64State* state) {
  if (row.ra.place == Place::kUndefined) return EndReason::kComplete;
  const bool context = row.signal && row.cfa == kAArch64ContextRow.cfa;
  const StackValue cfa = CfaOf(row.cfa, copy, *state, RegisterOf);
  if (cfa.failed()) return cfa.failure();
  const bool may_stay = row.ra.place == Place::kInRegister && state->lr_known;
  if (cfa.value % kStackWord != 0 || cfa.value < state->sp || (cfa.value == state->sp && !may_stay)) {
    return EndReason::kBadCfa;
  }
  if (cfa.value > copy.end) return copy.Beyond(EndReason::kBadCfa);
  const StackValue ra = Evaluate(row.ra, cfa.value, copy, *state, RegisterOf);
  if (ra.failed()) return ra.failure();
  const uint64_t pc = row.mangled_ra ? WithoutSignature(*state, ra.value) : ra.value;
  if (pc == 0) return context ? EndReason::kBadReturnAddress : EndReason::kComplete;
  const StackValue lr = context ? Load(copy, Add({state->sp}, kContextLr)) : StackValue();
  if (lr.failed()) return lr.failure();
  if (row.fp.place != Place::kUnchanged) {
    const StackValue fp = Evaluate(row.fp, cfa.value, copy, *state, RegisterOf);
    state->fp = fp.value;
    state->fp_known = !fp.failed();
  }
  state->pc = pc;
  state->sp = cfa.value;
  state->lr = lr.value;
  state->lr_known = context;
  state->exact = row.signal;
  return std::nullopt;
}

}  // namespace offcpu

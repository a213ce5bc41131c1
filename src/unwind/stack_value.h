// Words of a captured stack, sums of addresses and the rules of a row, each with the reason if there is no value: what
// applying a row is made of, for every machine. No state; safe from any thread.
#ifndef OFFCPU_UNWIND_STACK_VALUE_H_
#define OFFCPU_UNWIND_STACK_VALUE_H_

#include <cstdint>
#include <optional>

#include "unwind/row.h"
#include "unwind/stack_copy.h"
#include "unwind/user_stack.h"

namespace offcpu {

inline constexpr uint64_t kStackWord = 8;

// The outcome of a read or of naming a register: a value or why there is none. Two whole words: an optional beside the
// value is put together byte by byte, and costs more than all else.
struct StackValue {
  uint64_t value = 0;
  uint64_t failure_code = 0;  // 0: none, else one more than the EndReason

  bool failed() const { return failure_code != 0; }
  EndReason failure() const { return static_cast<EndReason>(failure_code - 1); }  // if it failed
};

inline StackValue Failed(EndReason reason) { return {0, static_cast<uint64_t>(reason) + 1}; }

// `base` + `offset`, which must not wrap.
inline StackValue Add(const StackValue& base, int32_t offset) {
  uint64_t sum = 0;
  if (base.failed()) return base;
  if (__builtin_add_overflow(base.value, int64_t{offset}, &sum)) return Failed(EndReason::kBadCfa);
  return {sum};
}

// Compilers and kernels keep addresses at multiples of their size, so what is found elsewhere is none.
inline StackValue Load(const StackCopy& copy, const StackValue& from) {
  const uint64_t address = from.value;
  if (from.failed()) return from;
  if (address % kStackWord != 0 || address < copy.begin || address > UINT64_MAX - kStackWord) {
    return Failed(EndReason::kBadMemory);
  }
  if (address + kStackWord > copy.end) return Failed(copy.Beyond(EndReason::kBadMemory));
  std::optional<uint64_t> word = copy.memory.ReadValue<uint64_t>(address);
  return word ? StackValue{*word} : Failed(EndReason::kBadMemory);
}

// What a machine's registers hold is its own: `reg` is StackValue(const State&, uint8_t), by DWARF number.
template <typename State, typename RegisterOf>
StackValue CfaOf(const CfaRule& rule, const StackCopy& copy, const State& state, RegisterOf reg) {
  const StackValue cfa = Add(reg(state, rule.reg), rule.offset);
  return rule.deref ? Add(Load(copy, cfa), rule.addend) : cfa;
}

// The caller's value by `rule`, for the places that name one.
template <typename State, typename RegisterOf>
[[gnu::always_inline]] inline StackValue Evaluate(const ValueRule& rule, uint64_t cfa, const StackCopy& copy,
                                                  const State& state, RegisterOf reg) {
  switch (rule.place) {
    case Place::kAtCfa:
      return Load(copy, Add({cfa}, rule.offset));
    case Place::kAtRegister:
      return Load(copy, Add(reg(state, rule.reg), rule.offset));
    case Place::kInRegister:
      return reg(state, rule.reg);
    case Place::kUndefined:
    case Place::kUnchanged:
      break;
  }
  return Failed(EndReason::kRegisterUnknown);
}

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_STACK_VALUE_H_

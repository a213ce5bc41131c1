// Applies a row to a frame, with every check on the caller that it computes. Knows signal frames, too, by what is on
// the stack. No state; safe from any thread. Does not look rows up and does not judge return addresses: that takes the
// mappings.
#ifndef OFFCPU_UNWIND_APPLY_H_
#define OFFCPU_UNWIND_APPLY_H_

#include <cstdint>
#include <optional>

#include "process/machine.h"
#include "unwind/stack_copy.h"
#include "unwind/unwind_row.h"
#include "unwind/user_stack.h"

namespace offcpu {

// Where a walk stands.
struct FrameState {
  const Machine* machine = nullptr;
  uint64_t pc = 0;
  uint64_t sp = 0;
  uint64_t fp = 0;
  uint64_t extra = 0;
  bool fp_known = true;
  bool extra_known = true;
  bool exact = true;                             // pc is an instruction that was interrupted, not a return address
  bool guessed = false;                          // the way to this frame goes by a frame pointer that nothing proves
  FrameSource source = FrameSource::kRegisters;  // how this frame was found
  uint64_t needed = 0;  // where Apply ended for what was not captured: an address from which on the stack is needed
  // All registers, set iff they are known: in the leaf, and directly after a signal frame. `unknown`, a bit for each,
  // excepts those that do not hold a value of the program.
  bool full = false;
  uint32_t unknown = 0;
  Registers registers;

  uint64_t lookup_pc() const { return exact ? pc : pc - 1; }
};

// A signal trampoline, by the ABI: the struct ucontext of the interrupted code is on the stack.
constexpr UnwindRow KernelContextRow(const Machine& machine) {
  const auto saved = [&machine](uint8_t reg) {
    return ValueRule{.offset = machine.context[reg], .place = Place::kAtRegister, .reg = machine.sp};
  };
  UnwindRow row = {.ra = saved(machine.pc), .fp = saved(machine.fp), .signal = true};
  row.cfa = {.offset = machine.context[machine.sp], .addend = 0, .reg = machine.sp, .deref = true};
  return row;
}

// The leaf of a thread with these user registers.
FrameState LeafState(const Registers& registers, bool in_syscall, const Machine& machine);

// Sets `found`: does `state` stand in a signal frame, by words that are alike in all of them? Otherwise says why that
// is not known.
std::optional<EndReason> FindKernelContext(const StackCopy& copy, const FrameState& state, bool* found);

// The same for code that no table describes, so that nothing else speaks for a trampoline: by every word that current
// kernels always make so. False where it cannot be read.
//
// Debuggers know such a trampoline by its code (mov $15, %eax; syscall). A walk has no code, only the stack copy, and
// to read some of the target for each return address that no table describes would buy little: the context has to be
// there anyway to go on from, and one of its words is its own address. What the code would tell apart besides is a
// function without a table whose frame begins exactly where a context still lies that is not in use any more.
bool IsKernelContext(const StackCopy& copy, const FrameState& state);

// Does the stack of a new process begin at `sp`, as the kernel makes it? The number of arguments lies there, pointers
// to them, and a 0. False where that cannot be read.
bool BeginsProcessStack(const Machine& machine, const StackCopy& copy, uint64_t sp);

// Goes from `state` to its caller. Otherwise says why not, and `state`, but for `needed` and `guessed`, is unspecified;
// kComplete: there is no caller.
//
// sp rises with every step (it may stay, once, where a leaf's return address is in a register), so no frame repeats;
// but for signal frames, behind which it is where the interrupted code left it. Those of a hostile stack may go in
// circles: the number of frames must be limited.
std::optional<EndReason> Apply(const UnwindRow& row, const StackCopy& copy, FrameState* state);

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_APPLY_H_

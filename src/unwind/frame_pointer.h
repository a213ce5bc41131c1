// The rule of code that keeps a frame pointer, for code that says nothing about itself. It is a guess: what is here is
// what keeps it from being a bad one. No state; safe from any thread. The return address is checked by the walk.
#ifndef OFFCPU_UNWIND_FRAME_POINTER_H_
#define OFFCPU_UNWIND_FRAME_POINTER_H_

#include "process/address_space.h"
#include "process/machine.h"
#include "process/module.h"
#include "process/return_path.h"
#include "unwind/apply.h"
#include "unwind/stack_copy.h"
#include "unwind/unwind_row.h"

namespace offcpu {

// The caller's frame pointer and the return address behind it are where the frame pointer points to: on x86-64 by
// push %rbp; mov %rsp, %rbp, on AArch64 by stp x29, x30, [sp, ...]; mov x29, sp.
constexpr UnwindRow FramePointerRow(const Machine& machine, const CodeRange& code = {.begin = 0, .end = UINT64_MAX}) {
  const int32_t word = machine.word_bytes;
  return {
      .begin = code.begin,
      .end = code.end,
      .cfa = {.offset = 2 * word, .addend = 0, .reg = machine.fp, .deref = false},
      .ra = {.offset = -word, .place = Place::kAtCfa, .reg = 0},
      .fp = {.offset = -2 * word, .place = Place::kAtCfa, .reg = 0},
      .source = FrameSource::kFramePointer,
  };
}

// The row of code without a frame, where everything is as the call left it.
constexpr UnwindRow WithoutFrameRow(const Machine& machine, const CodeRange& code) {
  const int32_t word = machine.word_bytes;
  const ValueRule pushed = {.offset = -word, .place = Place::kAtCfa, .reg = 0};
  const ValueRule in_register = {.offset = 0, .place = Place::kInRegister, .reg = machine.ra};
  return {
      .begin = code.begin,
      .end = code.end,
      .cfa = {.offset = machine.call_pushes ? word : 0, .addend = 0, .reg = machine.sp, .deref = false},
      .ra = machine.call_pushes ? pushed : in_register,
      .fp = {.offset = 0, .place = Place::kUnchanged, .reg = 0},
      .source = FrameSource::kFramePointer,
  };
}

// The row of code that was read from a return address on. Code that never returns is as if nothing had called it.
constexpr UnwindRow ReturnPathRow(const Machine& machine, const ReturnPath& path, uint64_t return_address) {
  UnwindRow row = {.begin = return_address - 1, .end = return_address, .source = FrameSource::kFramePointer};
  if (path.kind != ReturnPath::Kind::kReturns) return row;
  row.cfa = {.offset = path.cfa_offset, .addend = 0, .reg = path.from_fp ? machine.fp : machine.sp, .deref = false};
  row.ra = {.offset = -machine.word_bytes, .place = Place::kAtCfa, .reg = 0};
  row.fp.place = path.fp_offset ? Place::kAtCfa : Place::kUnchanged;
  row.fp.offset = path.fp_offset.value_or(0);
  return row;
}

// A module's tables may leave out a large part of its code altogether: what a program carries along that no compiler of
// such tables has made (the built-in functions of a runtime; code of another language beside C's). That says nothing
// about itself, either. A smaller hole is what lies between functions, or a PLT, or start-up code: such have no frame.
// But where the tables leave out more than they describe, they are only those that the C library's start-up code brings
// along, and that the linker makes of its PLT: the program itself has none.
inline constexpr uint64_t kMinHoleBytes = 64 << 10;
inline constexpr uint64_t kMinBareBytes = 512;  // left out: start-up code without a table is less

// Is it the guess for a hole? Its bounds are those of the row.
constexpr bool IsOfHole(const UnwindRow& row) {
  return row.source == FrameSource::kFramePointer && row.end != UINT64_MAX;
}

// Does the register look like a frame pointer of this frame?
bool PlausibleFramePointer(const FrameState& state, const StackCopy& copy);

// May the frame pointer be that of a frame further out, so that by it callers would be left out? It is so in code that
// uses the register for something else, or for nothing, as compilers of some runtimes do: the register still holds what
// the last frame was that has set it. The return addresses of what is left out lie between the stack pointer and where
// the frame pointer points to. So where no word there is the address of code, nothing is left out. Values of variables
// and what was there before may look the same: then it is not known. Nor is it where the process has code that is not
// known here, which any word may be an address of.
bool MaySkipFrames(const AddressSpace& space, const FrameState& state, const StackCopy& copy);

// Code that a module's tables leave out (such as the compiler's own start-up code) keeps a frame pointer after all if
// the register points exactly to where its stack ended at the call: only push %rbp; mov %rsp, %rbp makes it so.
bool HasPushedFramePointer(const FrameState& state);

// The outermost frame of such a chain has a frame pointer of 0, as the ABI demands. So may any other frame: code
// without frame pointers uses the register for anything. It is not known whether there are callers.
bool EndsFramePointerChain(const FrameState& state);

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_FRAME_POINTER_H_

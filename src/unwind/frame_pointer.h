// The rule of code that keeps a frame pointer, for code that says nothing about itself. It is a guess: what is here is
// what keeps it from being a bad one. No state; safe from any thread. The return address is checked by the walk.
#ifndef OFFCPU_UNWIND_FRAME_POINTER_H_
#define OFFCPU_UNWIND_FRAME_POINTER_H_

#include "process/module.h"
#include "unwind/apply.h"
#include "unwind/row.h"
#include "unwind/stack_copy.h"
#include "unwind/unwind_order.h"

namespace offcpu {

// push %rbp; mov %rsp, %rbp
inline constexpr Row kFramePointerRow = {
    .begin = 0,
    .end = UINT64_MAX,
    .cfa = {.offset = 16, .addend = 0, .reg = kRbp, .deref = false},
    .ra = {.offset = -8, .place = Place::kAtCfa, .reg = 0},
    .fp = {.offset = -16, .place = Place::kAtCfa, .reg = 0},
    .signal = false,
    .source = FrameSource::kFramePointer,
};

// Where Go's functions have no frame.
inline constexpr Row kWithoutFrameRow = {
    .begin = 0,
    .end = UINT64_MAX,
    .cfa = {.offset = 8, .addend = 0, .reg = kRsp, .deref = false},
    .ra = {.offset = -8, .place = Place::kAtCfa, .reg = 0},
    .fp = {.offset = 0, .place = Place::kUnchanged, .reg = 0},
    .signal = false,
    .source = FrameSource::kFramePointer,
};

// A module's tables may leave out a large part of its code altogether: what a program carries along that no compiler of
// such tables has made (the built-in functions of V8, which are in node's text; Go's code beside C's). That says
// nothing about itself, either. A smaller hole is what lies between functions, or a PLT, or start-up code: such have no
// frame.
inline constexpr uint64_t kMinHoleBytes = 64 << 10;

// The same for a hole, whose bounds are those of the row.
constexpr Row FramePointerRowOf(const CodeRange& hole) {
  Row row = kFramePointerRow;
  row.begin = hole.begin;
  row.end = hole.end;
  return row;
}
constexpr bool IsOfHole(const Row& row) {
  return row.source == FrameSource::kFramePointer && row.end != kFramePointerRow.end;
}

// Is code of `module` (null: no file) walked so? Not where a source that comes before in the order has a table of the
// module, or might have one. An .sframe of another version than is read here, or without a header, is none. Where one
// that comes behind has, only if the register is `plausible`.
bool UsesFramePointer(const UnwindOrder& order, const Module* module, bool plausible);

// Does the register look like a frame pointer of this frame?
bool PlausibleFramePointer(const FrameState& state, const StackCopy& copy);

// Code that a module's tables leave out (such as the compiler's own start-up code) keeps a frame pointer after all if
// the register points exactly to where its stack ended at the call: only push %rbp; mov %rsp, %rbp makes it so.
bool HasPushedFramePointer(const FrameState& state);

// The outermost frame of such a chain has a frame pointer of 0, as the ABI demands.
bool EndsFramePointerChain(const FrameState& state);

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_FRAME_POINTER_H_

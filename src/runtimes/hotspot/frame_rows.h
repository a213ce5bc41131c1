// The rows of a HotSpot virtual machine's frames on x86-64: from a frame to its caller, by what its blob says. Pure
// functions. The rules are those of frame_x86.inline.hpp and of the assemblers of OpenJDK.
#ifndef OFFCPU_RUNTIMES_HOTSPOT_FRAME_ROWS_H_
#define OFFCPU_RUNTIMES_HOTSPOT_FRAME_ROWS_H_

#include <cstdint>

#include "process/machine.h"
#include "runtimes/hotspot/code_cache.h"
#include "runtimes/hotspot/layout.h"
#include "unwind/unwind_row.h"

namespace offcpu {

inline constexpr int32_t kJavaWord = 8;

// Below the CFA, as compiled code and stubs have it.
constexpr UnwindRow SavedPairRow(const CfaRule& cfa) {
  return {.cfa = cfa,
          .ra = {.offset = -kJavaWord, .place = Place::kAtCfa, .reg = 0},
          .fp = {.offset = -2 * kJavaWord, .place = Place::kAtCfa, .reg = 0},
          .source = FrameSource::kRuntime};
}

// A method, or a stub of its own frame, which is always as large.
constexpr UnwindRow CompiledRow(const Blob& blob) {
  return SavedPairRow({.offset = blob.frame_words * kJavaWord, .addend = 0, .reg = kRsp, .deref = false});
}

// Code that was written by hand: push %rbp; mov %rsp, %rbp.
constexpr UnwindRow StubRow() {
  return SavedPairRow({.offset = 2 * kJavaWord, .addend = 0, .reg = kRbp, .deref = false});
}

// The way from C++ into Java, which preserves what its caller needs.
constexpr UnwindRow CallStubRow() {
  UnwindRow row = StubRow();
  row.extra = {.offset = (kCallStubRbx - 2) * kJavaWord, .place = Place::kAtCfa, .reg = 0};
  return row;
}

// The caller has its stack pointer where it was before the interpreter made room for the function's variables, or a
// method handle took an argument away: above the CFA or below it. A frame of a compiled caller is counted from there.
constexpr UnwindRow InterpretedRow() {
  UnwindRow row = StubRow();
  row.kept_sp = kInterpretedSenderSp;
  return row;
}

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_HOTSPOT_FRAME_ROWS_H_

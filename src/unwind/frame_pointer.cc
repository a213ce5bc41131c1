#include "unwind/frame_pointer.h"

namespace offcpu {

bool PlausibleFramePointer(const FrameState& state, const StackCopy& copy) {
  if (!state.fp_known || state.fp % 8 != 0 || state.fp < state.sp || state.fp < copy.begin) return false;
  // Above the copy a value may be right, if the stack goes on there.
  return copy.goes_on() || state.fp < copy.end;
}

bool HasPushedFramePointer(const FrameState& state) { return !state.exact && state.fp_known && state.fp == state.sp; }

bool EndsFramePointerChain(const FrameState& state) {
  return state.source == FrameSource::kFramePointer && state.fp_known && state.fp == 0;
}

}  // namespace offcpu

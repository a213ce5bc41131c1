#include "unwind/frame_pointer.h"

namespace offcpu {

bool UsesFramePointer(const Module* module) {
  if (module == nullptr) return true;
  return !module->code.empty() && module->eh_frame.bytes.empty() && module->eh_frame_hdr.bytes.empty() &&
         module->sframe.bytes.empty();
}

bool PlausibleFramePointer(const FrameState& state, const StackWindow& window) {
  if (!state.fp_known || state.fp % 8 != 0 || state.fp < state.sp || state.fp < window.begin) return false;
  // Above the window a value may be right, if the stack goes on there.
  return window.more || state.fp < window.end;
}

bool EndsFramePointerChain(const FrameState& state) {
  return state.source == FrameSource::kFramePointer && state.fp_known && state.fp == 0;
}

}  // namespace offcpu

#include "unwind/frame_pointer.h"

#include "unwind/sframe_section.h"

namespace offcpu {

namespace {

bool MayHaveTable(const Module* module, FrameSource source) {
  if (module == nullptr || source == FrameSource::kFramePointer) return false;
  if (module->code.empty()) return true;  // it could not be read
  if (source == FrameSource::kSFrame) {
    return SFrameVersionOf(module->sframe.bytes) == SFrameVersion::kV3 || module->damaged_sframe;
  }
  return !module->eh_frame.bytes.empty() || (!module->debug_frame.bytes.empty() && !module->is_go) ||
         !module->eh_frame_hdr.bytes.empty() || module->damaged_eh_frame;
}

}  // namespace

bool UsesFramePointer(const UnwindOrder& order, const Module* module, bool plausible) {
  bool reached = false;
  for (const FrameSource source : order.sources) {
    reached |= source == FrameSource::kFramePointer;
    if (MayHaveTable(module, source)) return reached && plausible;
  }
  return reached;
}

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

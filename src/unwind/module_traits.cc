#include "unwind/module_traits.h"

#include "unwind/sframe_section.h"

namespace offcpu {
namespace {

bool MayHaveTable(const Module* module, FrameSource source) {
  if (module == nullptr || source == FrameSource::kFramePointer) return false;
  if (module->code.empty()) return true;  // it could not be read
  if (source == FrameSource::kSFrame) {
    return SFrameVersionOf(module->sframe.bytes) == SFrameVersion::kV3 || module->damaged_sframe;
  }
  return !module->eh_frame.bytes.empty() || (!module->debug_frame.bytes.empty() && !module->keeps_frame_pointer) ||
         !module->eh_frame_hdr.bytes.empty() || module->damaged_eh_frame;
}

}  // namespace

ModuleTraits TraitsOf(const Module* module, const UnwindOrder& order) {
  ModuleTraits traits;
  bool has_table = false;
  for (const FrameSource source : order.sources) {
    traits.by_plausible_fp |= source == FrameSource::kFramePointer;
    has_table = MayHaveTable(module, source);
    if (has_table) break;
  }
  traits.by_any_fp = traits.by_plausible_fp && !has_table;
  if (module == nullptr) return traits;
  traits.keeps_frame_pointer = module->keeps_frame_pointer;
  // At the base of a thread the frame pointer leads nowhere, and the table does.
  if (module->keeps_frame_pointer && !module->debug_frame.bytes.empty() && order.Has(FrameSource::kEhFrame))
    traits.by_any_fp = false;
  const SFrameVersion version = SFrameVersionOf(module->sframe.bytes);
  traits.has_other_sframe = version != SFrameVersion::kNone && version != SFrameVersion::kV3;
  return traits;
}

}  // namespace offcpu

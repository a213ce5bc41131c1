// What is peculiar about walking the code of a module, worked out once for each. A plain value.
#ifndef OFFCPU_UNWIND_MODULE_TRAITS_H_
#define OFFCPU_UNWIND_MODULE_TRAITS_H_

#include "process/module.h"
#include "unwind/unwind_order.h"

namespace offcpu {

struct ModuleTraits {
  // Its code is walked by the frame pointer, whatever the register holds, or if it looks like one. Code that the
  // process has made itself says nothing else.
  bool by_any_fp = false;
  bool by_plausible_fp = false;
  // The code keeps a frame pointer wherever it has a frame. So .debug_frame is for code that was interrupted, and for
  // where the frame pointer cannot be one; it does not say what code is there.
  bool keeps_frame_pointer = false;
  // Has an .sframe of another version than is read here, which is passed over.
  bool has_other_sframe = false;

  bool ByFramePointer(bool plausible) const { return plausible ? by_plausible_fp : by_any_fp; }
};

// `module`: null for code without a file. It is not walked by the frame pointer where a source that comes before in the
// order has a table of the module, or might have one. An .sframe of another version than is read here, or without a
// header, is none. Where one that comes behind has, only if the register is plausible.
ModuleTraits TraitsOf(const Module* module, const UnwindOrder& order);

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_MODULE_TRAITS_H_

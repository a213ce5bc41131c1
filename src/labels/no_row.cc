#include "labels/no_row.h"

#include "process/module.h"

namespace offcpu {

NoRow WhyNoRow(const CodeObject* code) {
  const Module* module = AsModule(code);
  if (module == nullptr || module->code.empty()) return NoRow::kNotKnown;
  if (module->damaged_eh_frame || module->damaged_sframe || module->over_budget || module->too_large)
    return NoRow::kTableMissing;
  const Module& tables = module->tables();
  const bool has_table =
      !tables.eh_frame.bytes.empty() || !tables.sframe.bytes.empty() || !tables.debug_frame.bytes.empty();
  // Code that keeps a frame pointer needs no table.
  return has_table || module->keeps_frame_pointer ? NoRow::kLeftOut : NoRow::kNoTable;
}

}  // namespace offcpu

// The tables that rows come from, as data: where a module has each of them, and how it is prepared to be asked. Safe
// from any thread. Does not know which of them are asked when: see row_finder.h.
#ifndef OFFCPU_UNWIND_ROW_SOURCES_H_
#define OFFCPU_UNWIND_ROW_SOURCES_H_

#include <cstddef>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "process/machine.h"
#include "process/module.h"
#include "unwind/row_table.h"
#include "unwind/user_stack.h"

namespace offcpu {

struct RowSource {
  FrameSource rows = FrameSource::kEhFrame;     // what its rows are shown as
  FrameSource ordered = FrameSource::kEhFrame;  // what an UnwindOrder calls it
  bool fills_gaps = false;                      // opened with the source before it, for code which that leaves out
  bool falls_as_a_whole = false;                // where one entry is damaged, nothing says that the others are not
  size_t kept_bytes = 0;                        // beside the table, for each entry that has been asked for
  ModuleTable Module::*table = nullptr;         // where its bytes are
  bool Module::*damaged = nullptr;              // says that they should be there; null: nothing does
  size_t (*estimate)(const Module& module);     // at most what `open` takes; 0: there is no table
  // Unimplemented: it is of a version that is not read here.
  absl::StatusOr<std::unique_ptr<RowTable>> (*open)(const Module& module, const Machine& machine);
};

// Those that fill gaps stand behind the one whose gaps they are.
std::span<const RowSource> RowSources();

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_ROW_SOURCES_H_

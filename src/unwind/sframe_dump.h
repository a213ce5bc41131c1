// The functions and rows of an SFrame table as text: one line for each function, one for each of its rows. What is
// damaged is called so. Safe from any thread.
#ifndef OFFCPU_UNWIND_SFRAME_DUMP_H_
#define OFFCPU_UNWIND_SFRAME_DUMP_H_

#include <string_view>

#include "absl/functional/function_ref.h"
#include "unwind/sframe.h"

namespace offcpu {

// `line` gets each line without its end.
void DumpSFrame(const SFrameTable& table, absl::FunctionRef<void(std::string_view line)> line);

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_SFRAME_DUMP_H_

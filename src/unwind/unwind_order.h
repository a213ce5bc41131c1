// Which sources of rows a walk asks, first choice first. A plain value.
#ifndef OFFCPU_UNWIND_UNWIND_ORDER_H_
#define OFFCPU_UNWIND_UNWIND_ORDER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "unwind/user_stack.h"

namespace offcpu {

struct UnwindOrder {
  std::vector<FrameSource> sources = {FrameSource::kSFrame, FrameSource::kEhFrame, FrameSource::kFramePointer};

  bool Has(FrameSource source) const;
  bool operator==(const UnwindOrder&) const = default;
};

// "sframe,eh_frame,fp" or some of them in any order, each once.
absl::StatusOr<UnwindOrder> ParseUnwindOrder(const std::string& text);

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_UNWIND_ORDER_H_

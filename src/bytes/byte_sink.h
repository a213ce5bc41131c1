// Where formats put their bytes: a function that is called with one piece after the other and keeps none of them. Only
// valid during the call that it is passed to.
#ifndef OFFCPU_BYTES_BYTE_SINK_H_
#define OFFCPU_BYTES_BYTE_SINK_H_

#include <string_view>

#include "absl/functional/function_ref.h"

namespace offcpu {

using ByteSink = absl::FunctionRef<void(std::string_view)>;

}  // namespace offcpu

#endif  // OFFCPU_BYTES_BYTE_SINK_H_

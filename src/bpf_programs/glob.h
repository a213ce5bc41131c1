// A pattern over a thread's name (* any run of bytes, ? any one byte) as the bit machine that the programs run.
#ifndef OFFCPU_BPF_PROGRAMS_GLOB_H_
#define OFFCPU_BPF_PROGRAMS_GLOB_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "bpf/wire.h"

namespace offcpu {

// InvalidArgument if the pattern is empty or has more than 15 symbols, which no thread's name has.
absl::StatusOr<wire_glob> CompileGlob(std::string_view pattern);

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_GLOB_H_

// Names of compiled code from a perf map: a line for each function, "START SIZE NAME", both numbers in hex, in the
// order in which they were compiled. (Linux's tools/perf/Documentation/jit-interface.txt.) Any text is safe to read.
// It is read a piece at a time, whatever its size.
#ifndef OFFCPU_RUNTIMES_PERF_MAP_FUNCTIONS_H_
#define OFFCPU_RUNTIMES_PERF_MAP_FUNCTIONS_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "process/code_object.h"
#include "process/memory.h"
#include "runtimes/function_list.h"

namespace offcpu {

inline constexpr uint64_t kMaxPerfMapBytes = 64u << 20;

// By addresses in the process. Code is thrown away and its place is used again: a later line takes from earlier ones
// what they overlap. Lines that are none, such as a last one that is being written, are skipped. Some runtimes write 0x
// before numbers.
class PerfMapFunctions final : public FunctionList {
 public:
  // Reads the first `bytes` of `map`, an offset being an address.
  PerfMapFunctions(std::unique_ptr<const Memory> map, uint64_t bytes) : map_(std::move(map)), bytes_(bytes) {}

  void ForEach(absl::FunctionRef<void(const ListedFunction&)> use) const override;
  FunctionNames names() const override { return {.memory = *map_, .bytes = bytes_, .end = '\n'}; }

 private:
  const std::unique_ptr<const Memory> map_;
  const uint64_t bytes_;
};

// Those of a perf map's code (perf_map.h), as far as they are written by now; null if there are none. `code` must
// outlive them.
std::unique_ptr<FunctionList> FunctionsOfPerfMap(const CodeObject& code);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_PERF_MAP_FUNCTIONS_H_

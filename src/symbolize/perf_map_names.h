// Names of compiled code from a perf map: a line for each function, "START SIZE NAME", both numbers in hex, in the
// order in which they were compiled. (Linux's tools/perf/Documentation/jit-interface.txt.) Any text is safe to read.
// It is read a piece at a time, whatever its size, and searched for the addresses that are asked for.
#ifndef OFFCPU_SYMBOLIZE_PERF_MAP_NAMES_H_
#define OFFCPU_SYMBOLIZE_PERF_MAP_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "process/memory.h"
#include "symbolize/module_names.h"

namespace offcpu {

inline constexpr uint64_t kMaxPerfMapBytes = 64u << 20;

// Reads the first `bytes` of `map`, an offset being an address. Code is thrown away and its place is used again: a
// later line takes from earlier ones what they overlap. Lines that are none, such as a last one that is being written,
// are skipped. Some runtimes write 0x before numbers.
ModuleNames ReadPerfMap(const Memory& map, uint64_t bytes, std::span<const uint64_t> addresses);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_PERF_MAP_NAMES_H_

// Names of compiled code from a perf map: a line for each function, "START SIZE NAME", both numbers in hex, in the
// order in which they were compiled. (Linux's tools/perf/Documentation/jit-interface.txt.) Any text is safe to parse.
#ifndef OFFCPU_SYMBOLIZE_PERF_MAP_H_
#define OFFCPU_SYMBOLIZE_PERF_MAP_H_

#include <cstddef>
#include <string>

#include "symbolize/symbol_table.h"

namespace offcpu {

inline constexpr size_t kMaxPerfMapBytes = 64u << 20;

// Code is thrown away and its place is used again: a later line takes from earlier ones what they overlap. Lines that
// are none, such as a last one that is being written, are skipped. Some runtimes write 0x before numbers.
SymbolTable ParsePerfMap(std::string text);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_PERF_MAP_H_

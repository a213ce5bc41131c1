// Memory that a process has filled with copies of one small function, as CPython does for `-X perf`: each Python
// function has a copy of its own, by which perf maps name it. What one copy says of its caller, all of them say.
//
// Reads the process; safe from any thread.
#ifndef OFFCPU_PROCESS_COPIED_CODE_H_
#define OFFCPU_PROCESS_COPIED_CODE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "process/memory.h"

namespace offcpu {

inline constexpr uint64_t kMostCopiedBytes = 4 << 20;  // of one mapping
inline constexpr size_t kMostFunctionBytes = 64;

inline constexpr uint64_t kArenaBytes = 64 << 10;  // CPython's: copies begin anew in each, which may be side by side

// Where an address that is so far from the begin of the mapping is in the copy that it lies in.
inline uint64_t OffsetInCopy(uint64_t offset, size_t function_bytes) { return offset % kArenaBytes % function_bytes; }

// The function, with what lies between two copies; empty if [begin, end) is anything else.
std::vector<std::byte> CopiedFunction(const Memory& memory, uint64_t begin, uint64_t end);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_COPIED_CODE_H_

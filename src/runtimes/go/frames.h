// Where Go's functions have no frame: all of those that need none, and others up to where they make it and from where
// they leave it. The return address is at the stack pointer there, and the frame pointer is still the caller's: by it
// alone the caller would be left out. And where its stacks begin. Pure functions of the bytes; safe from any thread.
#ifndef OFFCPU_RUNTIMES_GO_FRAMES_H_
#define OFFCPU_RUNTIMES_GO_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "process/module.h"

namespace offcpu {

inline constexpr size_t kMaxGoRanges = 1 << 20;

// By link-time address, sorted, not overlapping; none if there would be more than kMaxGoRanges, or if the functions'
// depths change more often than the table has bytes. `gopclntab` and `text_address`: see table.h.
std::vector<CodeRange> GoCodeWithoutFrames(std::string_view gopclntab, uint64_t text_address);

// The runtime's functions at which its stacks begin or change, by name. There may be two of each, one for each
// convention of calls.
std::vector<StackLandmark> GoLandmarks(std::string_view gopclntab, uint64_t text_address);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_GO_FRAMES_H_

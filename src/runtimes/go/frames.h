// Where Go's functions have no frame: all of those that need none, and others up to where they make it and from where
// they leave it. The return address is at the stack pointer there, and the frame pointer is still the caller's: by it
// alone the caller would be left out. And where its stacks begin. Pure functions of the bytes; safe from any thread.
#ifndef OFFCPU_RUNTIMES_GO_FRAMES_H_
#define OFFCPU_RUNTIMES_GO_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "process/memory.h"
#include "process/module.h"

namespace offcpu {

inline constexpr size_t kMaxGoRanges = 4 << 20;

// By link-time address, sorted, not overlapping; the first kMaxGoRanges of them, and none if the functions' depths
// change more often than the table has bytes. The table is the first `bytes` of `gopclntab`; `text_address`: see
// table.h.
std::vector<CodeRange> GoCodeWithoutFrames(const Memory& gopclntab, uint64_t bytes, uint64_t text_address);

// The runtime's functions at which its stacks begin or change, by name. There may be two of each, one for each
// convention of calls.
std::vector<StackLandmark> GoLandmarks(const Memory& gopclntab, uint64_t bytes, uint64_t text_address);

// The code of cgo that calls the first function of each thread of the runtime, in code of C that Go's table does not
// list; `code` begins at the link-time `address`. Assembler code without a table, which all versions have alike.
std::optional<StackLandmark> FindCgoThreadStart(std::span<const std::byte> code, uint64_t address);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_GO_FRAMES_H_

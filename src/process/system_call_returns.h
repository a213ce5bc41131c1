// Where a system call is the last thing that a function does, on x86-64: `syscall; ret`. A thread that waits there has
// its return address at the stack pointer, whatever else is known of the function. So end the functions by which musl,
// which is mostly built without unwind tables, makes the calls that may take long. Pure functions of the bytes; safe
// from any thread.
#ifndef OFFCPU_PROCESS_SYSTEM_CALL_RETURNS_H_
#define OFFCPU_PROCESS_SYSTEM_CALL_RETURNS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "process/module.h"

namespace offcpu {

inline constexpr size_t kMaxSystemCallReturns = 1024;

// The `ret`s, each a range of its one byte. `code` begins at the link-time `address`. Bytes in the middle of an
// instruction may look so: no thread stands there in a system call. None if there would be more than are allowed.
std::vector<CodeRange> SystemCallReturns(std::span<const std::byte> code, uint64_t address);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_SYSTEM_CALL_RETURNS_H_

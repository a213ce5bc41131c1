// Does a function have a frame, which the frame pointer shows, whenever it calls another one? Then a frame pointer in
// it leads to its caller and leaves out nobody. The code is only read: branches within the function are followed both
// ways, on x86-64.
//
// Pure functions of the bytes, which may be anything; safe from any thread. That a function is entered where it begins
// is taken for granted.
#ifndef OFFCPU_PROCESS_FRAMED_CALLS_H_
#define OFFCPU_PROCESS_FRAMED_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "process/module.h"

namespace offcpu {

inline constexpr size_t kMaxFunctionBytes = 1 << 20;  // a longer one is not looked at

// `function`: all of its code. False also if some of it is no code that is known.
bool HasFrameAtCalls(std::span<const std::byte> function);

// Those of `functions`, sorted by address and within `code` (which begins at `address`), for which that is so;
// neighbours are one range.
std::vector<CodeRange> FramedFunctions(std::span<const std::byte> code, uint64_t address,
                                       std::span<const CodeRange> functions);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_FRAMED_CALLS_H_

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
// Instructions that are decoded for one list of functions, each of them twice at least. Code that jumps back and forth
// has its instructions decoded several times: the limit keeps a program from holding up its readers with that.
inline constexpr size_t kMaxDecoded = 1 << 22;

// `function`: all of its code. False also if some of it is no code that is known.
bool HasFrameAtCalls(std::span<const std::byte> function);

// Those of `functions`, sorted by address and within `code` (which begins at `address`), for which that is so;
// neighbours are one range. Those behind kMaxDecoded are left out.
std::vector<CodeRange> FramedFunctions(std::span<const std::byte> code, uint64_t address,
                                       std::span<const CodeRange> functions);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_FRAMED_CALLS_H_

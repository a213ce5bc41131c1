// .debug_frame in the form of .eh_frame, so that one reader serves both. The two hold the same entries and differ in
// how these name each other and the code. A pure function of the bytes; safe from any thread. Leaves to
// eh_frame_index.h whether what the entries say is sound.
#ifndef OFFCPU_UNWIND_DEBUG_FRAME_H_
#define OFFCPU_UNWIND_DEBUG_FRAME_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace offcpu {

// Whatever address the result is given, it describes the same code. Entries of an unknown kind are left out, and so are
// those of functions that the linker has thrown away, which it leaves at the address 0. Nothing if the chain of entries
// is broken.
std::optional<std::vector<std::byte>> DebugFrameAsEhFrame(std::span<const std::byte> debug_frame);

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_DEBUG_FRAME_H_

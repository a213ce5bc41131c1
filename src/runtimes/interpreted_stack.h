// What a thread runs in an interpreter whose frames lie outside of the thread's stack, and how these frames come to
// stand among the native ones. Each run of them is run by one native frame, in which the interpreter keeps something of
// its own: an address in that frame tells which one it is. So no symbol and no count decides.
//
// Plain data and a pure function.
#ifndef OFFCPU_RUNTIMES_INTERPRETED_STACK_H_
#define OFFCPU_RUNTIMES_INTERPRETED_STACK_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "process/address_space.h"
#include "unwind/kept_frames.h"
#include "unwind/user_stack.h"

namespace offcpu {

struct InterpretedRun {
  uint64_t at = 0;    // an address in the native frame that runs these frames
  size_t frames = 0;  // how many of them are shown: none where all have yet to begin
};

struct InterpretedStack {
  std::string_view missing;          // why it is not known: "[python: not read]"; empty: it is
  std::vector<Frame> frames;         // of all runs, leaf first
  std::vector<InterpretedRun> runs;  // the innermost first
};

// What stands in place of `missing` where PlaceInterpreted returns false.
inline constexpr std::string_view kNotPlaced = "[interpreted functions: not placed]";

// Puts the functions of `interpreted` into `stack`, which was walked in `space`, in place of the native frames that run
// them, and of the trampolines to these (MappedCode::copied). Runs beyond the end of an incomplete walk are left out,
// and so are those among frames that were left out. Then cuts the stack to `max_frames`, as walks are (kept_frames.h).
// `places` goes along; functions have none there (0).
//
// False: the frames do not agree with the runs, and nothing has changed.
[[nodiscard]] bool PlaceInterpreted(const InterpretedStack& interpreted, const AddressSpace& space, size_t max_frames,
                                    UserStack* stack, FramePlaces* places);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_INTERPRETED_STACK_H_

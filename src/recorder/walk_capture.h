// The one way from a capture, and the code that was mapped when it was made, to a user stack. Pure but for the walker,
// whose caches it uses.
#ifndef OFFCPU_RECORDER_WALK_CAPTURE_H_
#define OFFCPU_RECORDER_WALK_CAPTURE_H_

#include "bpf_programs/events.h"
#include "profile/profile.h"
#include "recorder/known_code.h"
#include "unwind/walk.h"

namespace offcpu {

// The walkers of one thread: one for each machine whose code a target may run.
class Walkers {
 public:
  explicit Walkers(const UnwindOrder& order = {}, size_t max_frames = kMaxFrames)
      : max_frames_(max_frames), native_(kHostMachine, order, {}, max_frames), i386_(kI386, order, {}, max_frames) {}

  Walker& For(const CaptureEvent& capture) { return capture.is_32_bit ? i386_ : native_; }
  size_t max_frames() const { return max_frames_; }
  RowFinderStats row_stats() const;

 private:
  size_t max_frames_;
  Walker native_;
  Walker i386_;
};

// False if the capture cannot be one of a stack; then `out` says nothing. `trace` as in Walker::Walk.
[[nodiscard]] bool WalkCapture(const CaptureEvent& capture, const CaptureCode& code, Walkers& walkers, UserStack* out,
                               WalkTrace* trace = nullptr);

// Did the walk leave the code that is known? It may have met code that was mapped later.
inline bool HasLeftCode(const UserStack& stack) {
  return stack.end == EndReason::kNotMapped || stack.end == EndReason::kBadReturnAddress;
}

void CountWalk(const UserStack& stack, ProfileStats& stats);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_WALK_CAPTURE_H_

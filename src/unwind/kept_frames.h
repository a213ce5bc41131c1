// Which frames of a walk are kept: all, or of a stack with more than a limit the innermost and the outermost half of
// it, with a mark between. Where a walk ends early only the innermost frames are kept, so that deep stacks that end
// somewhere differ as little as they can. One thread.
#ifndef OFFCPU_UNWIND_KEPT_FRAMES_H_
#define OFFCPU_UNWIND_KEPT_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "unwind/user_stack.h"

namespace offcpu {

// Where frames lie in the process, in their order.
struct FramePlaces {
  std::vector<uint64_t> pcs;  // 0: of the mark
  std::vector<uint64_t> sps;  // the stack pointer: a frame lies between its own and its caller's
};

class KeptFrames {
 public:
  // What is kept goes into `frames`, and into `places` with it unless that is null. `limit`: 2 at least.
  KeptFrames(size_t limit, std::vector<Frame>* frames, FramePlaces* places);

  // The frame as it is kept, until the next call.
  Frame& Add(const Frame& frame, uint64_t pc, uint64_t sp);
  size_t count() const { return count_; }  // of all
  bool is_cut() const { return count_ > limit_; }

  // No more frames come, as the walk has ended as `end`. Why the stack ends: one that is cut is not complete.
  EndReason Finish(EndReason end);

 private:
  struct Outer {
    Frame frame;
    uint64_t pc = 0;
    uint64_t sp = 0;
  };

  const size_t limit_;
  std::vector<Frame>* frames_;
  FramePlaces* places_;
  std::vector<Outer> outer_;  // the last frames of a stack that is cut, the oldest at `next_` once it is full
  size_t next_ = 0;
  size_t count_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_KEPT_FRAMES_H_

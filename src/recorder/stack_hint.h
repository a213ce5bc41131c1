// What the next captures of a thread should hold, so that a walk gets further than the last one did. Pure.
#ifndef OFFCPU_RECORDER_STACK_HINT_H_
#define OFFCPU_RECORDER_STACK_HINT_H_

#include <optional>

#include "bpf_programs/events.h"
#include "unwind/walk.h"

namespace offcpu {

// `needed`: of the walk of `capture`, which ended as `end`. Nothing if another capture would bring no more.
//
// What lies close above the copy makes the copy larger. What is further away, behind a large frame or on another stack,
// gets a piece of its own. A frame pointer that nothing proves asks for no piece: it may be any number.
std::optional<StackHint> HintAfter(const CaptureEvent& capture, EndReason end, const NeededStack& needed);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_STACK_HINT_H_

#include "recorder/walk_capture.h"

#include <algorithm>

namespace offcpu {

bool WalkCapture(const CaptureEvent& capture, const CaptureCode& code, Walker& walker, UserStack* out,
                 WalkTrace* trace) {
  const uint64_t begin = capture.registers.sp();
  const uint64_t size = capture.stack.size();
  if (begin > UINT64_MAX - size) return false;
  const SpanMemory memory(begin, capture.stack);
  walker.Walk(*code.space, capture.registers, capture.in_syscall,
              {.memory = memory,
               .begin = begin,
               .end = begin + size,
               .more = capture.more,
               .unread = capture.unread,
               .pieces = capture.pieces},
              out, trace);
  if (!code.whole && HasLeftCode(*out)) out->end = EndReason::kMapsChanged;
  return true;
}

void CountWalk(const UserStack& stack, ProfileStats& stats) {
  ++stats.walks;
  ++stats.walk_ends[static_cast<size_t>(stack.end)];
  for (const Frame& frame : stack.frames) ++stats.frames_by_source[static_cast<size_t>(frame.source)];
  if (stack.end != EndReason::kComplete || stack.frames.size() < 2) return;
  const FrameSource source = stack.frames.back().source;
  const bool one_source = std::all_of(stack.frames.begin() + 1, stack.frames.end(),
                                      [source](const Frame& frame) { return frame.source == source; });
  if (one_source) ++stats.complete_walks_by_source[static_cast<size_t>(source)];
}

}  // namespace offcpu

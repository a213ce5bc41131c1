#include "recorder/walk_capture.h"

#include <algorithm>

namespace offcpu {
namespace {

// The kernel keeps them where it keeps those of x86-64.
Registers AsI386(const Registers& captured) {
  Registers registers;
  registers.value[kEax] = captured.value[kRax];
  registers.value[kEcx] = captured.value[kRcx];
  registers.value[kEdx] = captured.value[kRdx];
  registers.value[kEbx] = captured.value[kRbx];
  registers.value[kEsp] = captured.value[kRsp];
  registers.value[kEbp] = captured.value[kRbp];
  registers.value[kEsi] = captured.value[kRsi];
  registers.value[kEdi] = captured.value[kRdi];
  registers.value[kEip] = captured.value[kRip];
  for (uint64_t& value : registers.value) value &= UINT32_MAX;
  return registers;
}

}  // namespace

RowFinderStats Walkers::row_stats() const {
  RowFinderStats sum = native_.row_stats();
  sum.corrupt_tables += i386_.row_stats().corrupt_tables;
  sum.bad_entries += i386_.row_stats().bad_entries;
  sum.sframe_old_versions += i386_.row_stats().sframe_old_versions;
  return sum;
}

bool WalkCapture(const CaptureEvent& capture, const CaptureCode& code, Walkers& walkers, UserStack* out,
                 WalkTrace* trace) {
  const uint64_t begin = capture.stack_begin();
  const uint64_t size = capture.stack.size();
  if (begin > kHostMachine.SpOf(capture.registers) || begin > UINT64_MAX - size) return false;
  const SpanMemory memory(begin, capture.stack);
  const Registers registers = capture.is_32_bit ? AsI386(capture.registers) : capture.registers;
  // A runtime's rows are those of the process's own machine, and a thread of it may run other code.
  const bool is_made = code.runtime != nullptr && !capture.is_32_bit;
  const std::unique_ptr<MadeCode> made = is_made ? code.runtime->CodeAt(capture.at_ns) : nullptr;
  walkers.For(capture).Walk(*code.space, registers, capture.in_syscall,
                            {.memory = memory,
                             .begin = begin,
                             .end = begin + size,
                             .more = capture.more,
                             .unread = capture.unread,
                             .pieces = capture.pieces},
                            out, trace, made.get());
  if (!code.whole && HasLeftCode(*out)) out->end = EndReason::kMapsChanged;
  return true;
}

void CountWalk(const UserStack& stack, ProfileStats& stats) {
  ++stats.walks;
  ++stats.walk_ends[static_cast<size_t>(stack.end)];
  for (const Frame& frame : stack.frames) {
    if (!frame.is_marker()) ++stats.frames_by_source[static_cast<size_t>(frame.source)];
  }
  if (stack.end != EndReason::kComplete || stack.frames.size() < 2) return;
  const FrameSource source = stack.frames.back().source;
  const bool one_source = std::all_of(stack.frames.begin() + 1, stack.frames.end(),
                                      [source](const Frame& frame) { return frame.source == source; });
  if (one_source) ++stats.complete_walks_by_source[static_cast<size_t>(source)];
}

}  // namespace offcpu

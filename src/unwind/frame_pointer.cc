#include "unwind/frame_pointer.h"

#include <optional>

namespace offcpu {

bool PlausibleFramePointer(const FrameState& state, const StackCopy& copy) {
  if (!state.fp_known || state.fp % state.machine->word_bytes != 0 || state.fp < state.sp) return false;
  if (state.fp >= copy.begin && state.fp < copy.end) return true;
  // Above what was captured a value may be right, if the stack goes on there.
  const std::optional<StackPart> part = copy.PartAt(state.fp);
  return part.has_value() && (part->goes_on() || state.fp < part->end);
}

bool MaySkipFrames(const AddressSpace& space, const FrameState& state, const StackCopy& copy) {
  constexpr uint64_t kMostWords = 2048;
  const uint8_t bytes = state.machine->word_bytes;
  if (!state.fp_known || state.fp < state.sp || (state.fp - state.sp) / bytes > kMostWords) return true;
  for (uint64_t at = state.sp; at + bytes <= state.fp; at += bytes) {
    std::optional<uint64_t> word;
    if (at >= copy.begin && at < copy.end) word = ReadWord(copy.memory, at, bytes);
    if (!word) word = copy.WordOfPiece(at, bytes);
    if (!word || !space.is_whole() || space.Find(*word) != nullptr) return true;
  }
  return false;
}

bool HasPushedFramePointer(const FrameState& state) { return !state.exact && state.fp_known && state.fp == state.sp; }

bool EndsFramePointerChain(const FrameState& state) {
  return state.source == FrameSource::kFramePointer && state.fp_known && state.fp == 0;
}

}  // namespace offcpu

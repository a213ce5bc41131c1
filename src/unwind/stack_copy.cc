#include "unwind/stack_copy.h"

namespace offcpu {

std::optional<StackPart> StackCopy::PartAt(uint64_t address) const {
  std::optional<StackPart> part;
  if (address >= begin) part = {begin, end, more, unread};
  for (const StackPiece& piece : pieces) {
    const bool is_nearer = !part.has_value() || piece.begin > part->begin;
    if (address >= piece.begin && is_nearer) part = {piece.begin, piece.end(), piece.more, piece.unread};
  }
  return part;
}

std::optional<uint64_t> StackCopy::WordOfPiece(uint64_t address, uint8_t word_bytes) const {
  for (const StackPiece& piece : pieces) {
    if (const auto word = ReadWord(SpanMemory(piece.begin, piece.bytes), address, word_bytes)) return word;
  }
  return std::nullopt;
}

}  // namespace offcpu

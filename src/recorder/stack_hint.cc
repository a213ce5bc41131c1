#include "recorder/stack_hint.h"

#include <algorithm>

namespace offcpu {
namespace {

// At the end of a frame are its return address and, below that, the registers that it has saved: seven words on x86-64.
constexpr uint64_t kSavedBytes = 64;

StackHint HintOf(const CaptureEvent& capture) {
  StackHint hint = {.bytes = static_cast<uint32_t>(std::min<size_t>(capture.bytes_from_sp(), kMaxCaptureBytes))};
  for (const StackPiece& piece : capture.pieces) hint.pieces.push_back(piece.begin);
  return hint;
}

// Does the next page behind what is there of a part hold `address`? It could not be read.
bool IsInUnreadPage(uint64_t end, uint64_t address) {
  constexpr uint64_t kPageBytes = 4096;
  return address >= end && address < (end & ~(kPageBytes - 1)) + kPageBytes;
}

bool CouldNotBeRead(const CaptureEvent& capture, uint64_t address) {
  if (capture.unread && IsInUnreadPage(capture.stack_end(), address)) return true;
  return std::any_of(capture.pieces.begin(), capture.pieces.end(), [address](const StackPiece& piece) {
    return piece.unread && IsInUnreadPage(piece.end(), address);
  });
}

// From `begin` on, but for what is in a piece already.
uint64_t BehindPieces(const CaptureEvent& capture, uint64_t begin) {
  for (const StackPiece& piece : capture.pieces) {
    if (begin >= piece.begin && begin < piece.end()) return piece.end();
  }
  return begin;
}

// From what was interrupted at `sp` on another stack. The red zone may begin in a page that is not there, and then a
// piece from there on would hold nothing.
uint64_t WithRedZone(const CaptureEvent& capture, uint64_t sp) {
  constexpr uint64_t kPageBytes = 4096;
  const Machine& machine = capture.is_32_bit ? kI386 : kHostMachine;
  return sp - std::min<uint64_t>(machine.red_zone_bytes, sp % kPageBytes);
}

std::optional<StackHint> WithPiece(const CaptureEvent& capture, uint64_t begin) {
  StackHint hint = HintOf(capture);
  if (hint.pieces.size() == kMaxStackPieces) hint.pieces.erase(hint.pieces.begin());
  hint.pieces.push_back(BehindPieces(capture, begin & ~uint64_t{7}));
  return hint;
}

}  // namespace

std::optional<StackHint> HintAfter(const CaptureEvent& capture, EndReason end, const NeededStack& needed) {
  const uint64_t sp = kHostMachine.SpOf(capture.registers);
  const bool is_near = needed.address >= sp && needed.address - sp < kMaxCaptureBytes;
  if (needed.address < kSavedBytes) return std::nullopt;
  if (end == EndReason::kStackCopy && is_near && capture.bytes_from_sp() < kMaxCaptureBytes) {
    StackHint hint = HintOf(capture);
    const uint64_t behind = needed.address - sp + kSavedBytes;
    const uint64_t bytes = std::max(uint64_t{hint.bytes} * 4, behind);
    hint.bytes = static_cast<uint32_t>(std::min<uint64_t>(bytes, kMaxCaptureBytes));
    return hint;
  }
  if (needed.guessed) return std::nullopt;
  if (end == EndReason::kStackCopy) return WithPiece(capture, needed.address - kSavedBytes);
  if (end == EndReason::kOtherStack) return WithPiece(capture, WithRedZone(capture, needed.address));
  // Behind a page that was never used there may be one that was.
  if (end != EndReason::kUnread || CouldNotBeRead(capture, needed.address - 1)) return std::nullopt;
  return WithPiece(capture, needed.address - kSavedBytes);
}

}  // namespace offcpu

// The captured parts of a stack, which are all of it that a walk may read: the copy from the stack pointer upwards, and
// pieces. A view: what it refers to must outlive it.
#ifndef OFFCPU_UNWIND_STACK_COPY_H_
#define OFFCPU_UNWIND_STACK_COPY_H_

#include <cstdint>
#include <optional>
#include <span>

#include "process/memory.h"
#include "process/stack_piece.h"
#include "unwind/user_stack.h"

namespace offcpu {

// Nobody captures more: what is further away is on another stack.
inline constexpr uint64_t kMaxStackCopyBytes = 32 << 20;

// A word of 8 or of 4 bytes.
inline std::optional<uint64_t> ReadWord(const SpanMemory& memory, uint64_t address, uint8_t word_bytes) {
  if (word_bytes == 8) return memory.ReadValue<uint64_t>(address);
  return memory.ReadValue<uint32_t>(address);
}

// One part of it, [begin, end), and what lies above.
struct StackPart {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool more = false;    // the stack goes on above `end`: a larger capture, or another piece, could help
  bool unread = false;  // it may go on there, but what follows could not be read

  bool goes_on() const { return more || unread; }
  // Why a walk ends that needs what lies above; `at_the_end` where there is nothing.
  EndReason Beyond(EndReason at_the_end) const {
    if (unread) return EndReason::kUnread;
    return more ? EndReason::kStackCopy : at_the_end;
  }
};

struct StackCopy {
  const SpanMemory& memory;
  uint64_t begin = 0;  // [begin, end) was copied, from the stack pointer upwards
  uint64_t end = 0;
  bool more = false;  // as of a part
  bool unread = false;
  std::span<const StackPiece> pieces = {};

  // The part that `address` lies in, or else the next one below it. Nothing: all parts are above it.
  std::optional<StackPart> PartAt(uint64_t address) const;
  // The word of so many bytes at `address` in a piece.
  std::optional<uint64_t> WordOfPiece(uint64_t address, uint8_t word_bytes = 8) const;
};

}  // namespace offcpu

#endif  // OFFCPU_UNWIND_STACK_COPY_H_

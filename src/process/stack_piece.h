// A part of a stack that was captured beside the copy that begins at the stack pointer: what lies behind a large frame,
// or on the stack that a signal handler with a stack of its own has interrupted. Plain data.
#ifndef OFFCPU_PROCESS_STACK_PIECE_H_
#define OFFCPU_PROCESS_STACK_PIECE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace offcpu {

struct StackPiece {
  uint64_t begin = 0;
  std::vector<std::byte> bytes;  // from `begin` upwards
  bool more = false;             // it ends at its limit, not where the memory does
  bool unread = false;           // it ends before a page that could not be read

  uint64_t end() const { return begin + bytes.size(); }
  bool operator==(const StackPiece&) const = default;
};

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_STACK_PIECE_H_

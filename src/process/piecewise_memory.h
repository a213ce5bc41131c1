// A part of a memory of which small values are read at a few places that move on, as in a large table of a file: so
// many pieces of it are kept as there are places, and no more, however large it is. One thread.
#ifndef OFFCPU_PROCESS_PIECEWISE_MEMORY_H_
#define OFFCPU_PROCESS_PIECEWISE_MEMORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "process/memory.h"

namespace offcpu {

class PiecewiseMemory final : public Memory {
 public:
  static constexpr uint64_t kPieceBytes = 64 << 10;
  static constexpr size_t kPieces = 16;

  // [begin, begin + bytes) of `memory`, which must outlive it; its addresses begin at 0.
  PiecewiseMemory(const Memory& memory, uint64_t begin, uint64_t bytes)
      : memory_(memory), begin_(begin), bytes_(begin > UINT64_MAX - bytes ? 0 : bytes) {}

  [[nodiscard]] bool Read(uint64_t address, std::span<std::byte> out) const override;
  uint64_t bytes() const { return bytes_; }

 private:
  struct Piece {
    uint64_t number = UINT64_MAX;
    std::vector<std::byte> bytes;  // empty: it cannot be read
  };

  const Piece& PieceAt(uint64_t number) const;

  const Memory& memory_;
  const uint64_t begin_;
  const uint64_t bytes_;
  mutable std::array<Piece, kPieces> pieces_;  // each at its number's rest
};

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_PIECEWISE_MEMORY_H_

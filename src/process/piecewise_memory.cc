#include "process/piecewise_memory.h"

#include <algorithm>
#include <cstring>

namespace offcpu {

const PiecewiseMemory::Piece& PiecewiseMemory::PieceAt(uint64_t number) const {
  Piece& piece = pieces_[number % kPieces];
  if (piece.number == number) return piece;
  piece.number = number;
  piece.bytes.resize(std::min(kPieceBytes, bytes_ - number * kPieceBytes));
  if (!memory_.Read(begin_ + number * kPieceBytes, piece.bytes)) piece.bytes.clear();
  return piece;
}

bool PiecewiseMemory::Read(uint64_t address, std::span<std::byte> out) const {
  if (address > bytes_ || bytes_ - address < out.size()) return false;
  while (!out.empty()) {
    const Piece& piece = PieceAt(address / kPieceBytes);
    const uint64_t skip = address % kPieceBytes;
    if (piece.bytes.size() <= skip) return false;
    const size_t taken = std::min<size_t>(out.size(), piece.bytes.size() - skip);
    std::memcpy(out.data(), piece.bytes.data() + skip, taken);
    out = out.subspan(taken);
    address += taken;
  }
  return true;
}

}  // namespace offcpu

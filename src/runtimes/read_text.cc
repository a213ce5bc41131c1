#include "runtimes/read_text.h"

#include <algorithm>
#include <array>
#include <span>

namespace offcpu {

std::optional<std::string> ReadText(const Memory& memory, uint64_t address, size_t max_bytes) {
  constexpr size_t kPieceBytes = 64;  // divides a page
  std::array<char, kPieceBytes> piece;
  std::string text;
  while (text.size() < max_bytes) {
    const size_t bytes = kPieceBytes - address % kPieceBytes;
    if (!memory.Read(address, std::as_writable_bytes(std::span(piece)).first(bytes))) return std::nullopt;
    const auto end = std::find(piece.begin(), piece.begin() + bytes, '\0');
    text.append(piece.begin(), end);
    if (end != piece.begin() + bytes) break;
    address += bytes;
  }
  text.resize(std::min(text.size(), max_bytes));
  return text;
}

}  // namespace offcpu

#include "runtimes/python/trampolines.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "process/return_path.h"

namespace offcpu {
namespace {

// Does the function call something, and return behind that?
bool CallsAndReturns(std::span<const std::byte> function) {
  for (size_t at = 1; at < function.size(); ++at) {
    if (FollowReturn(function, at).kind == ReturnPath::Kind::kReturns) return true;
  }
  return false;
}

// Is each piece of [begin, end) the same as `first`?
bool IsFilledWith(const Memory& memory, uint64_t begin, uint64_t end, std::span<const std::byte> first) {
  std::vector<std::byte> piece(first.size());
  for (uint64_t at = begin; at < end; at += piece.size()) {
    if (end - at < piece.size() || !memory.Read(at, piece)) return false;
    if (std::memcmp(piece.data(), first.data(), piece.size()) != 0) return false;
  }
  return true;
}

}  // namespace

std::vector<std::byte> CopiedFunction(const Memory& memory, uint64_t begin, uint64_t end) {
  constexpr size_t kPieceBytes = 4096;
  if (end - begin < kPieceBytes || end - begin > kMostCopiedBytes) return {};
  std::array<std::byte, 2 * kMostFunctionBytes> head = {};
  if (!memory.Read(begin, head)) return {};
  for (size_t bytes = 8; bytes <= kMostFunctionBytes; bytes *= 2) {
    if (std::memcmp(head.data(), head.data() + bytes, head.size() - bytes) != 0) continue;
    if (!CallsAndReturns(std::span(head).first(bytes))) return {};
    std::vector<std::byte> first(kPieceBytes);
    for (size_t at = 0; at < kPieceBytes; ++at) first[at] = head[at % bytes];
    if (!IsFilledWith(memory, begin, end, first)) return {};
    return {head.begin(), head.begin() + static_cast<ptrdiff_t>(bytes)};
  }
  return {};
}

void FindTrampolines(const ReadProcess& process, std::vector<MappedCode>* code) {
  for (MappedCode& c : *code) {
    const bool is_in_file = c.object() != nullptr || c.inode != 0;
    if (!is_in_file) c.copied = CopiedFunction(process.memory, c.begin, c.end);
  }
}

}  // namespace offcpu

#include "runtimes/python/trampolines.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "process/machine.h"
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

// What an arena that begins at `begin` says if it is full of copies: as many as are whole, and zeros.
bool IsFilledWith(const Memory& memory, uint64_t begin, size_t bytes, std::span<const std::byte> function) {
  std::vector<std::byte> expected(bytes);
  const size_t copied = bytes / function.size() * function.size();
  for (size_t at = 0; at < copied; ++at) expected[at] = function[at % function.size()];
  std::vector<std::byte> arena(bytes);
  return memory.Read(begin, arena) && arena == expected;
}

}  // namespace

// The shortest length after which all is the same again: versions of CPython put copies one right behind the other, or
// at multiples of 16 bytes.
std::vector<std::byte> CopiedFunction(const Memory& memory, uint64_t begin, uint64_t end) {
  constexpr size_t kLeastBytes = 4096;
  if (end - begin < kLeastBytes || end - begin > kMostCopiedBytes) return {};
  std::array<std::byte, 2 * kMostFunctionBytes> head = {};
  if (!memory.Read(begin, head)) return {};
  for (size_t bytes = 8; bytes <= kMostFunctionBytes; ++bytes) {
    if (std::memcmp(head.data(), head.data() + bytes, head.size() - bytes) != 0) continue;
    const std::span<const std::byte> function = std::span(head).first(bytes);
    if (!CallsAndReturns(function)) return {};
    for (uint64_t at = begin; at < end; at += MappedCode::kArenaBytes) {
      if (!IsFilledWith(memory, at, std::min(MappedCode::kArenaBytes, end - at), function)) return {};
    }
    return {function.begin(), function.end()};
  }
  return {};
}

void FindTrampolines(const ReadProcess& process, std::vector<MappedCode>* code) {
  if (&kHostMachine != &kX86_64) return;  // see return_path.h
  for (MappedCode& c : *code) {
    const bool is_in_file = c.object() != nullptr || c.inode != 0;
    if (!is_in_file) c.copied = CopiedFunction(process.memory, c.begin, c.end);
  }
}

}  // namespace offcpu

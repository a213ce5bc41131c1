#include "process/module_return_path.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "os/cached_read.h"

namespace offcpu {
namespace {

// Goes by as much of .text around the return address as is in memory.
ReturnPath PathInFile(const Module& module, uint64_t return_address) {
  constexpr uint64_t kPage = 4096;
  const FilePart& text = module.text_in_file;
  if (return_address < text.address || return_address - text.address >= text.bytes) return ReturnPath();
  const uint64_t at = return_address - text.address;
  // Few functions are larger than the first of these, in front of a call and behind it. Of the last, the page that the
  // function returns to has just been run.
  for (const uint64_t around : {4 * kPage, kPage, kPage / 8}) {
    const uint64_t begin = at - std::min(at, around);
    std::vector<std::byte> code(std::min(at + around, text.bytes) - begin);
    const CachedRead read = ReadCached(module.file, text.offset + begin, code);
    if (read == CachedRead::kFailed) return ReturnPath();
    if (read == CachedRead::kNotInMemory) continue;
    const ReturnPath path = FollowReturn(code, at - begin);
    if (around == 4 * kPage || path.kind == ReturnPath::Kind::kReturns) return path;
  }
  return ReturnPath();
}

}  // namespace

ReturnPath ModuleReturnPath(const Module& module, uint64_t return_address) {
  const auto& [begin, code] = module.text;
  if (code.empty()) return PathInFile(module, return_address);
  const bool is_in = return_address >= begin && return_address - begin < code.size();
  return is_in ? FollowReturn(code, return_address - begin) : ReturnPath();
}

}  // namespace offcpu

// Code that is read from its first byte on, and as what a mapping is filled with.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "process/return_path.h"
#include "runtimes/python/trampolines.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace offcpu;
  const std::span<const std::byte> code = std::as_bytes(std::span(data, size));
  const ReturnPath path = FollowReturn(code, 0);
  if (path.kind == ReturnPath::Kind::kReturns) {
    if (path.cfa_offset <= 8 || path.fp_offset.value_or(-8) >= 0) std::abort();
  }
  constexpr uint64_t kBegin = 0x7f0000000000;
  if (CopiedFunction(SpanMemory(kBegin, code), kBegin, kBegin + size).size() > kMostFunctionBytes) std::abort();
  return 0;
}

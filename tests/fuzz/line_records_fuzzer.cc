// Records of chains of functions: whatever they claim, each text lies in them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "source_lines/line_records.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace offcpu;
  const std::span<const char> bytes(reinterpret_cast<const char*>(data), size);
  const auto lies_there = [&](std::string_view text) {
    return text.empty() || (text.data() >= bytes.data() && text.data() + text.size() <= bytes.data() + size);
  };
  for (const LineChain& chain : ReadLineRecords(bytes, 16).chains) {
    if (chain.size() > kMaxInlined) std::abort();
    for (const SourceLine& line : chain) {
      if (!lies_there(line.function) || !lies_there(line.file)) std::abort();
    }
  }
  return 0;
}

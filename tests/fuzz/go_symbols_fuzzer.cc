// The function table of a Go program: every name that is found lies in it, and the code without frames is in order.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "runtimes/go/frames.h"
#include "runtimes/go/functions.h"
#include "symbolize/listed_names.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const offcpu::SpanMemory memory(0, std::as_bytes(std::span(bytes)));
  const std::vector<uint64_t> addresses = {0, 0x401000, 0x401040, 0x402000, UINT64_MAX - 1};
  const auto functions = offcpu::GoFunctionsOf(memory, 0, bytes.size(), 0x401000);
  for (const std::string& name : offcpu::NamesFrom(functions.get(), addresses).names) {
    if (bytes.find(name) == std::string::npos) std::abort();
  }
  uint64_t end = 0;
  for (const offcpu::CodeRange& range : offcpu::GoCodeWithoutFrames(memory, bytes.size(), 0x401000)) {
    if (range.begin < end || range.begin >= range.end) std::abort();
    end = range.end;
  }
  return 0;
}

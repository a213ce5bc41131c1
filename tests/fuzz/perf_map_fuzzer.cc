// A perf map: every name that is found is part of a line, and what the last line says holds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "process/memory.h"
#include "runtimes/perf_map/functions.h"
#include "symbolize/listed_names.h"

namespace {

std::vector<std::string> NamesOf(const std::string& text, const std::vector<uint64_t>& addresses) {
  auto memory = std::make_unique<offcpu::SpanMemory>(0, std::as_bytes(std::span(text)));
  const offcpu::PerfMapFunctions functions(std::move(memory), text.size());
  return offcpu::NamesFrom(&functions, addresses).names;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const std::string& name : NamesOf(text, {0, 0x1000, 0x1010, 0x7f0000001000, UINT64_MAX - 1})) {
    if (text.find(name) == std::string::npos) std::abort();
  }
  // Behind all that, one line that is good takes its place from any other.
  for (const std::string& name : NamesOf(text + "\n1000 10 last\n", {0x1000, 0x100f})) {
    if (name != "last") std::abort();
  }
  return 0;
}

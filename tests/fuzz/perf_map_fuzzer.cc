// A perf map: every name that is found is part of a line, and what the last line says holds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "symbolize/perf_map.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const offcpu::SymbolTable table = offcpu::ParsePerfMap(text);
  for (uint64_t address : {uint64_t{0}, uint64_t{0x1000}, uint64_t{0x1010}, uint64_t{0x7f0000001000}, UINT64_MAX - 1}) {
    const auto name = table.Find(address);
    if (name && (name->empty() || text.find(*name) == std::string::npos)) std::abort();
  }
  // Behind all that, one line that is good takes its place from any other.
  const offcpu::SymbolTable with = offcpu::ParsePerfMap(text + "\n1000 10 last\n");
  if (with.Find(0x1000) != "last" || with.Find(0x100f) != "last") std::abort();
  return 0;
}

// The text of /proc/kallsyms: every name that is found is part of a line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "symbolize/kernel_symbols.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  offcpu::SymbolTable table = offcpu::ParseKallsyms(text);
  for (uint64_t address : {uint64_t{1}, uint64_t{0x1000}, uint64_t{0xffffffff81000000}, UINT64_MAX - 1}) {
    auto name = table.Find(address);
    if (name && (name->empty() || text.find(*name) == std::string::npos)) std::abort();
  }
  return 0;
}

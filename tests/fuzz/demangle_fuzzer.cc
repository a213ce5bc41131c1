// A mangled name: what comes out is bounded, and comes out soon.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "symbolize/demangle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view name(reinterpret_cast<const char*>(data), size);
  std::string demangled = offcpu::Demangle(name);
  if (demangled != name && demangled.size() > offcpu::kMaxDemangledBytes) std::abort();
  return 0;
}

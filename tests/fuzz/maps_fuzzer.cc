// Text that claims to be /proc/PID/maps.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "process/maps.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto mappings = offcpu::ParseMaps(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!mappings.ok()) return 0;
  uint64_t end = 0;
  for (const offcpu::Mapping& m : *mappings) {
    if (m.begin < end || m.end <= m.begin) std::abort();
    end = m.end;
  }
  return 0;
}

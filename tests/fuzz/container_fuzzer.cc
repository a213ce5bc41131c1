// The text of /proc/PID/cgroup: any process that may make a cgroup names paths in it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "process/container.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string id = offcpu::ContainerId(std::string_view(reinterpret_cast<const char*>(data), size));
  if (id.starts_with('/') || id.ends_with('/') || id.find("//") != std::string::npos) abort();
  return 0;
}

#include "recorder/self_usage.h"

#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace offcpu {
namespace {

uint64_t CpuNs() {
  timespec used = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<uint64_t>(used.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(used.tv_nsec);
}

uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t size = 0;
  uint64_t resident = 0;
  statm >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint64_t OpenFiles() {
  std::error_code error;
  const std::filesystem::directory_iterator files("/proc/self/fd", error);
  const auto count = std::distance(begin(files), end(files));
  return count > 0 ? static_cast<uint64_t>(count) - 1 : 0;  // the directory itself
}

}  // namespace

SelfUsage MeasureSelf() { return {.cpu_ns = CpuNs(), .resident_bytes = ResidentBytes(), .open_files = OpenFiles()}; }

}  // namespace offcpu

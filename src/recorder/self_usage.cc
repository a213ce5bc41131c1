#include "recorder/self_usage.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>

#include "os/now.h"

namespace offcpu {
namespace {

uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t size = 0;
  uint64_t resident = 0;
  statm >> size >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

SelfUsage MeasureSelf() { return {.cpu_ns = NowNs(CLOCK_PROCESS_CPUTIME_ID), .resident_bytes = ResidentBytes()}; }

uint64_t OpenFiles() {
  std::error_code error;
  uint64_t files = 0;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", error), end; !error && entry != end;
       entry.increment(error)) {
    ++files;
  }
  return files == 0 ? 0 : files - 1;  // the directory itself
}

}  // namespace offcpu

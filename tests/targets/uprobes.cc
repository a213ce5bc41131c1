// Attaches a uprobe to a function of its own and detaches it, over and over, and measures how long both take together:
// the kernel waits for all programs that may sleep. Nobody calls the function.
// Usage: uprobes [--rounds N]
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include <algorithm>
#include <vector>

#include "target.h"

TARGET_FUNCTION void probed() { TARGET_AFTER_CALL; }

namespace {

// Where the function is in the file; 0 if that cannot be found.
uint64_t OffsetOfProbed() {
  const auto address = reinterpret_cast<uint64_t>(&probed);
  FILE* maps = fopen("/proc/self/maps", "re");
  target::Check(maps != nullptr, "maps");
  unsigned long begin;
  unsigned long end;
  unsigned long offset;
  uint64_t found = 0;
  while (found == 0 && fscanf(maps, "%lx-%lx %*s %lx%*[^\n]", &begin, &end, &offset) == 3) {
    if (address >= begin && address < end) found = address - begin + offset;
  }
  fclose(maps);
  return found;
}

// The type of such events; -1 where the kernel has none.
int UprobeType() {
  FILE* file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
  int type = -1;
  if (file == nullptr) return type;
  target::Check(fscanf(file, "%d", &type) == 1, "type");
  fclose(file);
  return type;
}

uint64_t SwitchNs(int type, uint64_t offset) {
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = static_cast<uint32_t>(type);
  attributes.uprobe_path = reinterpret_cast<uint64_t>("/proc/self/exe");
  attributes.probe_offset = offset;
  const uint64_t began_ns = target::ClockNs(CLOCK_MONOTONIC);
  const auto event = static_cast<int>(syscall(SYS_perf_event_open, &attributes, -1, 0, -1, PERF_FLAG_FD_CLOEXEC));
  target::Check(event >= 0, "perf_event_open");
  close(event);
  return target::ClockNs(CLOCK_MONOTONIC) - began_ns;
}

}  // namespace

int main(int argc, char** argv) {
  const int type = UprobeType();
  const auto rounds = type < 0 ? 0 : static_cast<size_t>(target::Option(argc, argv, "--rounds", 5));
  const uint64_t offset = OffsetOfProbed();
  target::Check(offset != 0, "where it is");
  target::ReadyAndRun("", 0);
  std::vector<uint64_t> lengths_ns;
  for (size_t i = 0; i < rounds; ++i) lengths_ns.push_back(SwitchNs(type, offset));
  std::sort(lengths_ns.begin(), lengths_ns.end());
  target::Value("rounds", rounds);
  target::Value("median_ns", rounds == 0 ? 0 : lengths_ns[rounds / 2]);
  target::Value("longest_ns", rounds == 0 ? 0 : lengths_ns.back());
  target::DoneAndStay();
}

// A program that waits below a function whose returns somebody probes, as tools do that trace what a library returns:
// the return address on the stack is the kernel's trampoline. Usage: probed_returns [--seconds S]     prints whether
// the kernel has such probes
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "target.h"

namespace {

constexpr uint64_t kWaitNs = 1'000'000;

}  // namespace

TARGET_FUNCTION void probed_inner() {
  target::SleepNs(kWaitNs);
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void probed() {
  probed_inner();
  TARGET_AFTER_CALL;
}

TARGET_FUNCTION void probed_outer() {
  probed();
  TARGET_AFTER_CALL;
}

namespace {

// Where `probed` is in the file; 0 if that cannot be found.
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

// The probe, which the process holds; -1 if the kernel has none.
int ProbeReturns() {
  FILE* file = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
  if (file == nullptr) return -1;
  unsigned type = 0;
  target::Check(fscanf(file, "%u", &type) == 1, "type");
  fclose(file);
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = type;
  attributes.config = 1;  // of returns: .../format/retprobe
  attributes.uprobe_path = reinterpret_cast<uint64_t>("/proc/self/exe");
  attributes.probe_offset = OffsetOfProbed();
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, -1, 0, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

int main(int argc, char** argv) {
  const int probe = ProbeReturns();
  target::ReadyAndRun(probe >= 0 ? "probes=1" : "probes=0", target::Option(argc, argv, "--seconds", 2));
  while (!target::Over()) probed_outer();
  target::DoneAndStay();
}

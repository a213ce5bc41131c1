#include "capture/process_context.h"

#include <sys/stat.h>

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace offcpu {
namespace {

// Its inode number is fixed in the kernel's interface (PROC_PID_INIT_INO).
bool InInitialPidNamespace() {
  constexpr ino_t kInitialPidNamespace = 0xEFFFFFFC;
  struct stat self;
  return stat("/proc/self/ns/pid", &self) != 0 || self.st_ino == kInitialPidNamespace;
}

uint64_t EffectiveCapabilities() {
  std::ifstream status("/proc/self/status");
  std::string line;
  uint64_t effective = 0;
  while (std::getline(status, line)) {
    if (std::sscanf(line.c_str(), "CapEff: %" SCNx64, &effective) == 1) break;
  }
  return effective;
}

}  // namespace

bool ProcessContext::Has(int capability) const {
  const auto held = [this](int number) { return (capabilities >> number & 1) != 0; };
  const bool was_sys_admin = capability == CAP_BPF || capability == CAP_PERFMON || capability == CAP_CHECKPOINT_RESTORE;
  return held(capability) || (was_sys_admin && held(CAP_SYS_ADMIN));
}

ProcessContext ReadProcessContext() {
  return {.host_pids = InInitialPidNamespace(), .capabilities = EffectiveCapabilities()};
}

absl::Status CheckProcessContext() {
  const ProcessContext context = ReadProcessContext();
  if (!context.host_pids) {
    return absl::FailedPreconditionError(
        "this is not the host's pid namespace: run it on the host, or in a container that shares it (--pid=host)");
  }
  std::vector<std::string> missing;
  for (const NeededCapability& needed : kNeededCapabilities) {
    if (!context.Has(needed.number)) missing.emplace_back(needed.name);
  }
  if (missing.empty()) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat("missing ", absl::StrJoin(missing, ", "),
                                                  ": run it as root, or grant the program these capabilities"));
}

}  // namespace offcpu

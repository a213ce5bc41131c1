#include "bpf_programs/process_context.h"

#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace offcpu {
namespace {

// The inode numbers of the host's namespaces are fixed in the kernel's interface (PROC_PID_INIT_INO and
// PROC_USER_INIT_INO).
constexpr ino_t kHostPids = 0xEFFFFFFC;
constexpr ino_t kHostUsers = 0xEFFFFFFD;

// Kernels without namespaces have no such file.
bool IsIn(ino_t host, const char* namespace_file) {
  struct stat self;
  return stat(namespace_file, &self) != 0 ? errno == ENOENT : self.st_ino == host;
}

// The value of "NAME:\tVALUE" in the status of this process; empty if there is none.
std::string StatusOfSelf(const char* name) {
  const std::string begin = absl::StrCat(name, ":\t");
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(begin)) return line.substr(begin.size());
  }
  return "";
}

// The numbers that this process has in the namespace of /proc and in those below it.
PidNamespace ReadPidNamespace() {
  const std::string numbers = StatusOfSelf("NSpid");
  if (numbers.empty() || numbers.find('\t') != std::string::npos) return PidNamespace::kOtherProc;
  return IsIn(kHostPids, "/proc/self/ns/pid") ? PidNamespace::kHost : PidNamespace::kOwn;
}

uint64_t EffectiveCapabilities() {
  uint64_t effective = 0;
  return absl::SimpleHexAtoi(StatusOfSelf("CapEff"), &effective) ? effective : 0;
}

}  // namespace

bool ProcessContext::Has(int capability) const {
  const auto held = [this](int number) { return (capabilities >> number & 1) != 0; };
  const bool was_sys_admin = capability == CAP_BPF || capability == CAP_PERFMON || capability == CAP_CHECKPOINT_RESTORE;
  return held(capability) || (was_sys_admin && held(CAP_SYS_ADMIN));
}

ProcessContext ReadProcessContext() {
  return {.pids = ReadPidNamespace(),
          .host_users = IsIn(kHostUsers, "/proc/self/ns/user"),
          .capabilities = EffectiveCapabilities()};
}

absl::Status CheckProcessContext() {
  const ProcessContext context = ReadProcessContext();
  if (context.pids == PidNamespace::kOtherProc) {
    return absl::FailedPreconditionError(
        "/proc belongs to another pid namespace: mount this one's with `mount -t proc proc /proc`");
  }
  if (!context.host_users) {
    return absl::PermissionDeniedError(
        "root in this user namespace may not load BPF programs: run it on the host, or in a container that shares the "
        "host's user namespace");
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

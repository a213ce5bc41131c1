// What this process itself may do: its namespaces and its effective capabilities. Needs /proc. Says nothing of the
// kernel, which may refuse a process that holds them all.
#ifndef OFFCPU_BPF_PROGRAMS_PROCESS_CONTEXT_H_
#define OFFCPU_BPF_PROGRAMS_PROCESS_CONTEXT_H_

#include <linux/capability.h>

#include <cstdint>

#include "absl/status/status.h"

namespace offcpu {

// Whose processes this process sees, and by which numbers.
enum class PidNamespace {
  kHost,       // all processes, by the numbers of the kernel
  kOwn,        // those of its own namespace, as in a container: only these can be recorded
  kOtherProc,  // /proc is that of another namespace, and the numbers there are others
};

struct ProcessContext {
  PidNamespace pids = PidNamespace::kOtherProc;
  bool host_users = false;    // it is in no user namespace of its own, where capabilities do not count
  uint64_t capabilities = 0;  // a bit each, by the numbers of linux/capability.h

  // As the kernel decides: CAP_SYS_ADMIN stands for those that were once a part of it.
  bool Has(int capability) const;
};

// Without these nothing is recorded.
struct NeededCapability {
  int number;
  const char* name;
  const char* purpose;
};
inline constexpr NeededCapability kNeededCapabilities[] = {
    {CAP_BPF, "CAP_BPF", "loading BPF programs"},
    {CAP_PERFMON, "CAP_PERFMON", "BPF programs that watch the scheduler"},
    {CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "reading the memory of other processes"},
};

ProcessContext ReadProcessContext();

// PermissionDenied, naming what is missing, unless this process may load the programs and read other processes;
// FailedPrecondition if /proc shows processes by other numbers than this process knows them by.
absl::Status CheckProcessContext();

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_PROCESS_CONTEXT_H_

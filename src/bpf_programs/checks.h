// What a host and a process offer a recording, judged: each thing that a recording uses, whether it is there, what is
// lost without it and what to do about it. A pure function of facts; finds out nothing itself.
#ifndef OFFCPU_BPF_PROGRAMS_CHECKS_H_
#define OFFCPU_BPF_PROGRAMS_CHECKS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bpf_programs/kernel.h"
#include "bpf_programs/process_context.h"

namespace offcpu {

struct HostFacts {
  std::string release;  // of the kernel
  absl::StatusOr<KernelFeatures> features;
  ProcessContext process;
  absl::Status load;  // what the kernel said to the programs; of no meaning without features
  bool kallsyms_readable = false;
  int kptr_restrict = 0;
  std::string cgroup_mount;  // of cgroup v2; empty if there is none
};

enum class Verdict {
  kOk,
  kLimited,  // recording works without it, with a loss
  kMissing,  // nothing can be recorded without it
};
std::string_view Name(Verdict verdict);  // "ok", "limited", "missing"

struct Check {
  std::string name;
  Verdict verdict = Verdict::kOk;
  std::string found;
  std::string lost;    // empty iff the verdict is kOk
  std::string advice;  // the same
};

// Those that need the kernel's type information are left out where there is none.
std::vector<Check> CheckHost(const HostFacts& facts);
bool CanRecord(const std::vector<Check>& checks);

// How the user stacks of waits come about.
enum class UserStackPath {
  kTaskWork,     // copied when the thread returns to user mode
  kAtOnce,       // what is resident is copied at the switch
  kWaitingOnly,  // never copied: only threads that still wait are read, from outside
};
UserStackPath UserStackPathOf(const KernelFeatures& features);

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_CHECKS_H_

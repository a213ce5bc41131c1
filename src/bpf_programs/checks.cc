#include "bpf_programs/checks.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

// What is lost without that which a recording cannot do without.
constexpr const char* kNoRecording = "nothing can be recorded";

// A check before its outcome is known.
struct Question {
  std::string name;
  Verdict without = Verdict::kLimited;
  std::string lost;
  std::string advice;
};

Check Answer(Question question, bool is_there, std::string found) {
  if (is_there) return {.name = std::move(question.name), .found = std::move(found)};
  return {.name = std::move(question.name),
          .verdict = question.without,
          .found = std::move(found),
          .lost = std::move(question.lost),
          .advice = std::move(question.advice)};
}

Check CheckTypes(const HostFacts& facts) {
  const bool there = facts.features.ok();
  return Answer({.name = "type information",
                 .without = Verdict::kMissing,
                 .lost = kNoRecording,
                 .advice = "use a kernel built with what is missing; in a container, mount the host's /sys"},
                there, there ? "/sys/kernel/btf/vmlinux" : std::string(facts.features.status().message()));
}

Check CheckPidNamespace(PidNamespace pids) {
  Question question = {.name = "pid namespace",
                       .lost = "processes outside of this container",
                       .advice =
                           "to record those too, run it on the host, or in a container that shares the host's pid "
                           "namespace (--pid=host)"};
  switch (pids) {
    case PidNamespace::kHost:
      return Answer(std::move(question), true, "the host's");
    case PidNamespace::kOwn:
      return Answer(std::move(question), false, "the container's own");
    case PidNamespace::kOtherProc:
      break;
  }
  question.without = Verdict::kMissing;
  question.lost = "nothing can be recorded: /proc shows pids of another pid namespace";
  question.advice = "mount -t proc proc /proc";
  return Answer(std::move(question), false, "not that of /proc");
}

void AddProcessChecks(const ProcessContext& process, std::vector<Check>& checks) {
  checks.push_back(CheckPidNamespace(process.pids));
  checks.push_back(Answer(
      {.name = "user namespace",
       .without = Verdict::kMissing,
       .lost = "nothing can be recorded: root in a user namespace may not load BPF programs, whatever its capabilities",
       .advice = "run it on the host, or in a container without its own user namespace"},
      process.host_users, process.host_users ? "the host's" : "the container's own"));
  for (const NeededCapability& needed : kNeededCapabilities) {
    const bool held = process.Has(needed.number);
    checks.push_back(Answer({.name = needed.name,
                             .without = Verdict::kMissing,
                             .lost = absl::StrCat("nothing can be recorded: needed for ", needed.purpose),
                             .advice = absl::StrCat("run it as root, or grant the program ", needed.name,
                                                    "; in a container, add it to the container's capabilities")},
                            held, held ? "held" : "not held"));
  }
  const bool opens = process.Has(CAP_DAC_READ_SEARCH) && process.Has(CAP_CHECKPOINT_RESTORE);
  checks.push_back(Answer({.name = "mapped files",
                           .lost = "function names from files that were deleted or replaced, or that others may not "
                                   "read; control groups as labels",
                           .advice = "run it as root, or grant CAP_DAC_READ_SEARCH and CAP_CHECKPOINT_RESTORE"},
                          opens, opens ? "can be opened" : "some cannot be opened"));
}

Check CheckLoad(const absl::Status& load) {
  return Answer({.name = "loading the programs",
                 .without = Verdict::kMissing,
                 .lost = kNoRecording,
                 .advice = "see what else is missing; if nothing is, kernel lockdown or a security module may forbid "
                           "it: see the kernel log"},
                load.ok(), load.ok() ? "loaded, attached and removed" : std::string(load.message()));
}

// A feature that is in the kernel or not.
Check Feature(Question question, bool is_there) {
  return Answer(std::move(question), is_there, is_there ? "there" : "absent");
}

void AddNeededFeatures(const KernelFeatures& features, std::vector<Check>& checks) {
  checks.push_back(Feature(
      {.name = "sched_switch", .without = Verdict::kMissing, .lost = kNoRecording, .advice = "use Linux 5.18 or later"},
      features.switch_tp));
  checks.push_back(Feature(
      {.name = "task iterator", .without = Verdict::kMissing, .lost = kNoRecording, .advice = "use Linux 6.1 or later"},
      features.task_iter));
}

Check CheckTaskWork(const KernelFeatures& features) {
  Question question = {.name = "task work",
                       .lost = "user stacks that are paged out, and one copy for all waits of a system call",
                       .advice = "use Linux 6.18 or later"};
  if (features.task_work_arguments == 0) return Answer(std::move(question), false, "absent");
  const std::string found = absl::StrCat("takes ", features.task_work_arguments, " arguments");
  if (!features.real_time) return Answer(std::move(question), true, found);
  question.advice = "use a kernel without PREEMPT_RT";
  return Answer(std::move(question), false, "runs too late on a real-time kernel, so not used");
}

void AddFeatures(const KernelFeatures& features, std::vector<Check>& checks) {
  checks.push_back(Feature({.name = "sched_exit_tp",
                            .lost = "user stacks are taken when a thread leaves the CPU: pages that are not in memory "
                                    "are missing, and waits that are left out later cost as much as others",
                            .advice = "use Linux 6.16 or later"},
                           features.exit_tp));
  checks.push_back(Feature({.name = "scheduler's clock",
                            .lost = "waits include the recorder's own time",
                            .advice = "use a kernel built with CONFIG_FAIR_GROUP_SCHED=y"},
                           features.rq_clock));
  checks.push_back(Answer({.name = "reads of user memory",
                           .lost = "user stacks of waits that have ended",
                           .advice = "use Linux 6.4 or later, or 6.1.36 or later"},
                          features.can_read_user,
                          features.can_read_user ? "safe" : "not known to be safe, so not done"));
  checks.push_back(CheckTaskWork(features));
  checks.push_back(Feature({.name = "tree of mappings",
                            .lost = "user stacks cheap enough for short waits; stacks of processes that map or unmap "
                                    "code while they are recorded, or end soon",
                            .advice = "use a version of offcpu that knows this kernel"},
                           features.mm_tree));
}

Check CheckKernelNames(const HostFacts& facts) {
  Question question = {.name = "kernel symbols",
                       .lost =
                           "names of kernel functions; the recorder's own frames stay in kernel stacks; each "
                           "context switch costs more",
                       .advice = "use a kernel built with CONFIG_KALLSYMS=y"};
  if (!facts.kallsyms_readable) return Answer(std::move(question), false, "/proc/kallsyms cannot be read");
  if (facts.features->ranges.schedule.begin != 0) return Answer(std::move(question), true, "/proc/kallsyms");
  if (facts.kptr_restrict >= 2) {
    question.advice = "set kernel.kptr_restrict to 1 or 0 with sysctl";
    return Answer(std::move(question), false, "/proc/kallsyms hides addresses from all processes");
  }
  question.advice = "run it as root, or grant CAP_SYSLOG";
  return Answer(std::move(question), false, "/proc/kallsyms hides addresses from this process");
}

// Where they are is a kernel symbol.
void AddKernelWalks(const KernelFeatures& features, std::vector<Check>& checks) {
  if (features.ranges.schedule.begin == 0) return;
  const bool by_tables = &kHostMachine == &kX86_64;
  checks.push_back(Feature({.name = by_tables ? "kernel's unwind tables" : "kernel's frame records",
                            .lost = "cheap kernel stacks: the kernel walks each of them, and each context switch "
                                    "costs more",
                            .advice = by_tables ? "use Linux 6.4 or later, built with CONFIG_UNWINDER_ORC=y"
                                                : "use a kernel built with CONFIG_KALLSYMS_ALL=y"},
                           features.kernel_walk));
}

Check CheckCgroups(const std::string& mount) {
  return Answer({.name = "cgroup v2",
                 .lost = "--cgroup and --container, and control groups as labels",
                 .advice = "mount -t cgroup2 none /sys/fs/cgroup; in a container, mount the host's"},
                !mount.empty(), mount.empty() ? "not mounted" : mount);
}

}  // namespace

std::string_view Name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kLimited:
      return "limited";
    case Verdict::kMissing:
      return "missing";
  }
  return "?";
}

std::vector<Check> CheckHost(const HostFacts& facts) {
  std::vector<Check> checks = {CheckTypes(facts)};
  AddProcessChecks(facts.process, checks);
  if (facts.features.ok()) {
    AddNeededFeatures(*facts.features, checks);
    checks.push_back(CheckLoad(facts.load));
    AddFeatures(*facts.features, checks);
    checks.push_back(CheckKernelNames(facts));
    AddKernelWalks(*facts.features, checks);
  }
  checks.push_back(CheckCgroups(facts.cgroup_mount));
  return checks;
}

bool CanRecord(const std::vector<Check>& checks) {
  return std::none_of(checks.begin(), checks.end(),
                      [](const Check& check) { return check.verdict == Verdict::kMissing; });
}

UserStackPath UserStackPathOf(const KernelFeatures& features) {
  if (!features.can_read_user) return UserStackPath::kWaitingOnly;
  return features.can_defer() ? UserStackPath::kTaskWork : UserStackPath::kAtOnce;
}

}  // namespace offcpu

// `offcpu doctor`: finds out what the host offers, by asking and by loading the real programs, and says it.
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "bpf_programs/programs.h"
#include "offcpu/doctor_report.h"
#include "offcpu/outputs.h"
#include "offcpu/verb.h"
#include "process/control_groups.h"

namespace offcpu {
namespace {

// Everything is loaded and attached as for a recording of the whole host, except that it is never armed.
absl::Status TryToLoad(const KernelFeatures& features) {
  return Programs::Load({.task_works_per_second = 1, .capture_bytes_per_second = 1}, features).status();
}

std::string KernelRelease() {
  utsname name;
  return uname(&name) == 0 ? name.release : "";
}

HostFacts FindFacts() {
  HostFacts facts = {.release = KernelRelease(), .features = ProbeKernel(), .process = ReadProcessContext()};
  if (facts.features.ok()) facts.load = TryToLoad(*facts.features);
  facts.kallsyms_readable = access("/proc/kallsyms", R_OK) == 0;
  std::ifstream("/proc/sys/kernel/kptr_restrict") >> facts.kptr_restrict;
  facts.cgroup_mount = ControlGroupRoot().value_or("");
  return facts;
}

ExitCode RunDoctor(bool as_json) {
  const HostFacts facts = FindFacts();
  const std::vector<Check> checks = CheckHost(facts);
  as_json ? WriteChecksJson(facts, checks, ToStdout) : WriteChecks(facts, checks, ToStdout);
  if (const absl::Status written = FlushStdout(); !written.ok()) return Fail(written);
  return CanRecord(checks) ? kExitOk : kExitFailed;
}

}  // namespace

Verb DoctorVerb() {
  auto as_json = std::make_shared<bool>(false);
  Verb verb = {.name = "doctor", .help = "Show what this host offers for recording, and what to do about the rest"};
  verb.flags = {{"--json", as_json.get(), "Print one JSON object, for scripts"}};
  verb.footer =
      "Each line is ok, limited (recording works, with a loss) or missing (nothing can be recorded). The BPF programs "
      "of a recording are actually loaded for a moment, and then removed.\n"
      "\n"
      "Examples:\n"
      "  offcpu doctor                                     can this host record?\n"
      "  offcpu doctor --json | jq -e .can_record          for scripts\n"
      "\n"
      "Exit status: 0 recording is possible, 1 it is not, 2 wrong usage.";
  verb.run = [as_json] { return RunDoctor(*as_json); };
  return verb;
}

}  // namespace offcpu

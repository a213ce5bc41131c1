// `offcpu doctor`: finds out what the host offers, by asking and by loading the real programs, and says it.
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "capture/programs.h"
#include "offcpu/doctor_report.h"
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

void ToStdout(std::string_view piece) { std::fwrite(piece.data(), 1, piece.size(), stdout); }

ExitCode RunDoctor(bool as_json) {
  const HostFacts facts = FindFacts();
  const std::vector<Check> checks = CheckHost(facts);
  as_json ? WriteChecksJson(facts, checks, ToStdout) : WriteChecks(facts, checks, ToStdout);
  if (std::fflush(stdout) != 0) return Fail(absl::InternalError("cannot write to the standard output"));
  return CanRecord(checks) ? kExitOk : kExitFailed;
}

}  // namespace

Verb AddDoctor(CLI::App& offcpu) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* app =
      offcpu.add_subcommand("doctor", "Say what this host offers a recording, and what to do about the rest");
  app->add_flag("--json", *as_json, "Write one JSON object, for scripts");
  app->footer(
      "Each line is ok, limited (recording works, with a loss) or missing (nothing can be recorded). The programs of\n"
      "a recording are really loaded, for a moment, and removed.\n"
      "\n"
      "Examples:\n"
      "  offcpu doctor                                     on a new host, or as another user\n"
      "  offcpu doctor --json | jq -e .can_record          for scripts\n"
      "\n"
      "Exit status: 0 can record, 1 cannot, 2 wrong usage.");
  return {app, [as_json] { return RunDoctor(*as_json); }};
}

}  // namespace offcpu

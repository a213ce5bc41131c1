// `offcpu dump`: what the service has recorded, in any form.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bytes/duration.h"
#include "offcpu/daemon.h"
#include "offcpu/outputs.h"
#include "offcpu/verb.h"
#include "pprof/pprof_reader.h"
#include "proto/control.pb.h"

namespace offcpu {
namespace {

struct DumpFlags {
  std::string socket;
  std::string since;
  std::string until;
  std::vector<int> pids;
  std::vector<std::string> comms;
  OutputFlags outputs;
};

// A length of time before now, as unix time; 0 for none.
absl::StatusOr<uint64_t> Ago(const std::string& text) {
  if (text.empty()) return 0;
  const absl::StatusOr<uint64_t> ago_ns = ParseDuration(text);
  if (!ago_ns.ok()) return ago_ns.status();
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto now_ns = static_cast<uint64_t>(std::chrono::nanoseconds(now).count());
  return *ago_ns < now_ns ? now_ns - *ago_ns : 1;
}

absl::StatusOr<control::Request> RequestOf(const DumpFlags& flags) {
  const absl::StatusOr<uint64_t> since = Ago(flags.since);
  if (!since.ok()) return since.status();
  const absl::StatusOr<uint64_t> until = Ago(flags.until);
  if (!until.ok()) return until.status();
  if (*until != 0 && *since >= *until) return absl::InvalidArgumentError("--since is not before --until");
  control::Request request;
  request.mutable_dump()->set_since_unix_ns(*since);
  request.mutable_dump()->set_until_unix_ns(*until);
  for (const int pid : flags.pids) request.mutable_dump()->add_pids(pid);
  for (const std::string& comm : flags.comms) request.mutable_dump()->add_comms(comm);
  return request;
}

absl::StatusOr<NamedProfile> FetchProfile(const std::string& socket, const control::Request& request) {
  const absl::StatusOr<std::string> bytes = AskDaemonForBytes(socket, request);
  if (!bytes.ok()) return bytes.status();
  return ParsePprof(*bytes);
}

absl::Status Print(const DumpFlags& flags, const NamedProfile& profile) {
  FormatOptions options = FormatOptionsOf(flags.outputs, profile);
  options.text_processes = kPrintedProcesses;
  options.text_stacks = kPrintedStacks;
  options.text_modules = kPrintedModules;
  WriteProfile(OutputFormat::kText, profile, options, ToStdout);
  return FlushStdout();
}

ExitCode RunDump(const DumpFlags& flags) {
  if (absl::Status status = CheckOutputs(flags.outputs); !status.ok()) return Fail(status);
  const absl::StatusOr<control::Request> request = RequestOf(flags);
  if (!request.ok()) return Fail(request.status());
  const absl::StatusOr<IdlePatterns> idle = ReadIdlePatterns(flags.outputs.idle.patterns);
  if (!idle.ok()) return Fail(idle.status());
  absl::StatusOr<NamedProfile> profile = FetchProfile(flags.socket, *request);
  if (!profile.ok()) return Fail(profile.status());
  const bool has_samples = profile->stats.oncpu_period_ns != 0;
  if (absl::Status status = CheckValue(flags.outputs, has_samples); !status.ok()) return Fail(status);
  MarkStoredIdle(flags.outputs.idle, *idle, &*profile);
  KeepWanted(flags.outputs, &*profile);
  const absl::Status status =
      flags.outputs.files.empty() ? Print(flags, *profile) : WriteOutputs(flags.outputs, *profile);
  if (profile->duration_ns == 0) std::fputs("offcpu: no window has anything of this time (--since, --until)\n", stderr);
  if (status.ok()) TellHidden(flags.outputs, *profile);
  if (status.ok()) return kExitOk;
  Fail(status);
  return kExitFailed;
}

}  // namespace

Verb AddDump(CLI::App& offcpu) {
  auto flags = std::make_shared<DumpFlags>();
  CLI::App* app = offcpu.add_subcommand("dump", "Show or write what the service, offcpud, has recorded");
  app->add_option("--since", flags->since, "Not what ended longer ago; without it all that there is")
      ->type_name("TIME");
  app->add_option("--until", flags->until, "Not what began later than this long ago; without it up to now")
      ->type_name("TIME");
  app->add_option("-p,--pid", flags->pids, "Only this process")->type_name("PID")->allow_extra_args(false);
  app->add_option("--comm", flags->comms, "Only threads of this name, in which * and ? stand for others")
      ->type_name("NAME")
      ->allow_extra_args(false);
  AddSocketFlag(*app, &flags->socket);
  AddOutputFlags(*app, "Waits for work: show their stacks, or only count them, as without it", &flags->outputs);
  app->footer(
      "The service keeps its recording in windows of a minute, or what its configuration says. A dump is of whole\n"
      "windows; the running one is in it up to now. Without -o it prints tables. Root may ask, and members of the\n"
      "service's group.\n"
      "\n"
      "Examples:\n"
      "  offcpu dump --since 5m                      the costliest processes and stacks of the last five minutes\n"
      "  offcpu dump -p 1234 -o waits.pb.gz          one process, for go tool pprof and offcpu report\n"
      "  offcpu dump --since 1h --until 30m -o a.json --comm 'nginx*'\n"
      "\n"
      "Exit status: 0 done, 1 failed or no service, 2 wrong usage, 3 not allowed.");
  return {app, [flags] { return RunDump(*flags); }};
}

}  // namespace offcpu

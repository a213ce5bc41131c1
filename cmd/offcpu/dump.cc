// `offcpu dump`: what the service has recorded, in any form.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "offcpu/daemon.h"
#include "offcpu/fetched_files.h"
#include "offcpu/filter_flags.h"
#include "offcpu/outputs.h"
#include "offcpu/stored.h"
#include "offcpu/time_flags.h"
#include "offcpu/verb.h"
#include "pprof/pprof_reader.h"
#include "symbolize/name_again.h"

namespace offcpu {
namespace {

struct DumpFlags {
  std::string socket;
  TimeFlags time;
  FilterFlags filter;
  OutputFlags outputs;
  std::string symbols = "/usr/lib/debug";
  bool debuginfod = false;
};

// What the service need not send: it knows processes and names of threads. The filter decides all the same.
void NarrowDown(const ProfileFilter& filter, DumpWanted* dump) {
  std::vector<int> pids;
  bool is_by_number = true;
  for (const LabelFilter& one : filter.labels) {
    int pid = 0;
    if (one.label == RowLabel::kComm) dump->comms.push_back(one.pattern);
    if (one.label != RowLabel::kPid) continue;
    is_by_number = absl::SimpleAtoi(one.pattern, &pid) && is_by_number;
    pids.push_back(pid);
  }
  if (is_by_number) dump->pids = std::move(pids);
}

absl::StatusOr<NamedProfile> FetchProfile(const std::string& socket, const TimeSpan& span,
                                          const ProfileFilter& filter) {
  DumpWanted wanted = {.since_unix_ns = span.since_unix_ns, .until_unix_ns = span.until_unix_ns};
  NarrowDown(filter, &wanted);
  const absl::StatusOr<std::string> bytes = AskDaemon(socket, DumpTarget(wanted));
  if (!bytes.ok()) return bytes.status();
  return ParsePprof(*bytes);
}

void TellSpan(const TimeSpan& asked, const NamedProfile& profile) {
  if (profile.duration_ns == 0) {
    std::fputs("offcpu: no window covers this time (--since, --until)\n", stderr);
  } else if (!asked.is_all()) {
    std::fprintf(stderr, "offcpu: these are whole windows, %s\n", SpanText(SpanOf(profile)).c_str());
  }
}

ExitCode RunDump(const DumpFlags& flags) {
  if (absl::Status status = CheckOutputs(flags.outputs); !status.ok()) return Fail(status);
  const absl::StatusOr<TimeSpan> span = SpanOf(flags.time);
  if (!span.ok()) return Fail(span.status());
  const absl::StatusOr<ProfileFilter> filter = FilterOf(flags.filter);
  if (!filter.ok()) return Fail(filter.status());
  const absl::StatusOr<IdlePatterns> idle = ReadIdlePatterns(flags.outputs.idle.patterns);
  if (!idle.ok()) return Fail(idle.status());
  const auto fetched = FetchedFiles::Open(flags.debuginfod, nullptr);
  if (!fetched.ok()) return Fail(fetched.status());
  absl::StatusOr<NamedProfile> profile = FetchProfile(flags.socket, *span, *filter);
  if (!profile.ok()) return Fail(profile.status());
  TellSpan(*span, *profile);
  MarkStoredIdle(flags.outputs.idle, *idle, &*profile);
  if (!flags.outputs.lines.none) NameAgain(flags.symbols, (*fetched)->fetcher(), &*profile);
  (*fetched)->Finish();
  ApplyLineFlags(flags.outputs.lines, &*profile);
  KeepWanted(*filter, &*profile);
  const absl::Status shown = ShowStored(flags.outputs, *std::move(profile), filter->is_everything());
  return shown.ok() ? kExitOk : Fail(shown);
}

}  // namespace

Verb DumpVerb() {
  auto flags = std::make_shared<DumpFlags>();
  Verb verb = {.name = "dump", .help = "Show or write what the service (offcpud) has recorded"};
  AddTimeFlags("windows", &flags->time, &verb.flags);
  AddFilterFlags(&flags->filter, &verb.flags);
  verb.flags.push_back(SocketFlag(&flags->socket));
  AddOutputFlags("Show the stacks of waits for work, or only count them (the default)", &flags->outputs, &verb.flags);
  verb.flags.push_back({"--symbols",
                        &flags->symbols,
                        "Look for source lines in the debug files DIR/.build-id/xx/yyy.debug",
                        "DIR",
                        {.shows_default = true}});
  verb.flags.push_back(DebuginfodFlag(&flags->debuginfod));
  verb.flags.push_back(SourceLinkFlag(&flags->outputs));
  verb.flags.push_back(PerThreadFlag(&flags->outputs));
  verb.flags.push_back(VerboseFlag(&flags->outputs));
  verb.footer =
      "The service keeps its recording in windows, of a minute by default. A dump consists of whole windows; the "
      "running one is included up to now. Without -o it prints tables. Root and members of the service's group may "
      "ask. With several filters of one kind, a wait has to pass one of them; with filters of different kinds, it has "
      "to pass all kinds.\n"
      "\n"
      "Examples:\n"
      "  offcpu dump --since 5m                      the costliest processes and stacks of the last five minutes\n"
      "  offcpu dump --since 14:05 --until 14:20 --unit nginx         a service, while it was slow\n"
      "  offcpu dump -p 1234 -o waits.pb.gz          one process, for go tool pprof and offcpu report\n"
      "  offcpu dump --since 1h --until 30m -o a.json --comm 'nginx*'\n"
      "  offcpu dump --cause lock --focus 'Cache::' --ignore '^pthread_cond'      the locks of one class\n"
      "\n"
      "Exit status: 0 done, 1 failed or no service, 2 wrong usage, 3 not allowed.";
  verb.run = [flags] { return RunDump(*flags); };
  return verb;
}

}  // namespace offcpu

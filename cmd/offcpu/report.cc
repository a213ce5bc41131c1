// `offcpu report`: stored recordings in any other form.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "bytes/utf8.h"
#include "labels/sum_limits.h"
#include "offcpu/fetched_files.h"
#include "offcpu/filter_flags.h"
#include "offcpu/outputs.h"
#include "offcpu/stored.h"
#include "offcpu/time_flags.h"
#include "offcpu/verb.h"
#include "profile/merge_named.h"
#include "symbolize/name_again.h"

namespace offcpu {
namespace {

struct ReportFlags {
  std::vector<std::string> files;
  TimeFlags time;
  FilterFlags filter;
  OutputFlags outputs;
  std::string symbols;
  bool debuginfod = false;
};

// Those that have something of the span, each whole; says of each which time it is of, if there is a question.
absl::StatusOr<NamedProfile> ReadFiles(const ReportFlags& flags, const TimeSpan& span, const IdlePatterns& idle) {
  std::vector<NamedProfile> taken;
  SumLimits sums;
  for (const std::string& file : flags.files) {
    absl::StatusOr<NamedProfile> profile = ReadStored(file, flags.outputs.idle, idle);
    if (!profile.ok()) return profile.status();
    const TimeSpan recorded = SpanOf(*profile);
    const bool is_taken = span.Has(recorded);
    if (!span.is_all()) {
      std::fprintf(stderr, "offcpu: %s: %s, %s\n", is_taken ? "taken whole" : "left out", Printable(file).c_str(),
                   SpanText(recorded).c_str());
    }
    if (!is_taken) continue;
    if (!sums.Add(*profile)) {
      return absl::ResourceExhaustedError(absl::StrCat(
          file,
          " and the files before it have more than 292 years of waits, which is too much to add up: give fewer files"));
    }
    taken.push_back(*std::move(profile));
  }
  if (taken.empty()) return absl::NotFoundError("no file covers this time (--since, --until)");
  return MergeNamedProfiles(std::move(taken));
}

ExitCode RunReport(const ReportFlags& flags) {
  if (absl::Status status = CheckOutputs(flags.outputs); !status.ok()) return Fail(status);
  const absl::StatusOr<TimeSpan> span = SpanOf(flags.time);
  if (!span.ok()) return Fail(span.status());
  const absl::StatusOr<ProfileFilter> filter = FilterOf(flags.filter);
  if (!filter.ok()) return Fail(filter.status());
  const absl::StatusOr<IdlePatterns> idle = ReadIdlePatterns(flags.outputs.idle.patterns);
  if (!idle.ok()) return Fail(idle.status());
  const auto fetched = FetchedFiles::Open(flags.debuginfod, nullptr);
  if (!fetched.ok()) return Fail(fetched.status());
  absl::StatusOr<NamedProfile> profile = ReadFiles(flags, *span, *idle);
  if (!profile.ok()) return Fail(profile.status());
  if (!flags.symbols.empty() || flags.debuginfod) NameAgain(flags.symbols, (*fetched)->fetcher(), &*profile);
  (*fetched)->Finish();
  ApplyLineFlags(flags.outputs.lines, &*profile);
  KeepWanted(*filter, &*profile);
  const absl::Status shown = ShowStored(flags.outputs, *std::move(profile), filter->is_everything());
  return shown.ok() ? kExitOk : Fail(shown);
}

}  // namespace

Verb ReportVerb() {
  auto flags = std::make_shared<ReportFlags>();
  Verb verb = {.name = "report", .help = "Show recorded .pb.gz files, or write them in another format"};
  verb.flags = {
      {"FILE", &flags->files, "A .pb.gz file of record or dump; several are added up", "", {.is_required = true}}};
  AddTimeFlags("files", &flags->time, &verb.flags);
  AddFilterFlags(&flags->filter, &verb.flags);
  AddOutputFlags("Show the stacks of waits for work, or only count them (the default)", &flags->outputs, &verb.flags);
  verb.flags.push_back({"--symbols", &flags->symbols,
                        "Name frames without a source line by the debug files DIR/.build-id/xx/yyy.debug", "DIR"});
  verb.flags.push_back(DebuginfodFlag(&flags->debuginfod));
  verb.flags.push_back(SourceLinkFlag(&flags->outputs));
  verb.flags.push_back(PerThreadFlag(&flags->outputs));
  verb.flags.push_back(VerboseFlag(&flags->outputs));
  verb.footer =
      "Without -o it prints the 20 costliest processes and the 10 costliest stacks; a .txt file has 20 of each, "
      "other formats have all. It needs neither root nor the machine of the recording. With several filters of one "
      "kind, a wait has to pass one of them; with filters of different kinds, it has to pass all kinds.\n"
      "\n"
      "Examples:\n"
      "  offcpu report waits.pb.gz                                    the costliest processes and stacks\n"
      "  offcpu report waits.pb.gz --by cause --unit nginx            what a service waits for\n"
      "  offcpu report waits.pb.gz --focus 'Cache::' --ignore '^epoll_'      waits below some functions\n"
      "  offcpu report hour/*.pb.gz --since 14:05 --until 14:20       some minutes out of many files\n"
      "  offcpu report waits.pb.gz --symbols /srv/debug -o waits.html       names that the host did not have\n"
      "  offcpu report waits.pb.gz -o waits.folded --time-unit ns     for flame graph tools\n"
      "\n"
      "Exit status: 0 done, 1 a file is damaged or the result cannot be written, 2 wrong usage.";
  verb.run = [flags] { return RunReport(*flags); };
  return verb;
}

}  // namespace offcpu

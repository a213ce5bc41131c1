// `offcpu report`: a stored recording in any other form.
#include <memory>

#include "absl/status/statusor.h"
#include "offcpu/outputs.h"
#include "offcpu/verb.h"
#include "pprof/pprof_reader.h"

namespace offcpu {
namespace {

struct ReportFlags {
  std::string file;
  OutputFlags outputs;
};

ExitCode RunReport(const ReportFlags& flags) {
  if (flags.file == "-") {
    return Fail(absl::InvalidArgumentError("report reads a file, not the standard input: give the name of a .pb.gz"));
  }
  if (absl::Status status = CheckOutputs(flags.outputs); !status.ok()) return Fail(status);
  const absl::StatusOr<IdlePatterns> idle = ReadIdlePatterns(flags.outputs.idle.patterns);
  if (!idle.ok()) return Fail(idle.status());
  absl::StatusOr<NamedProfile> profile = ReadPprofFile(flags.file);
  if (!profile.ok()) return Fail(profile.status());
  const bool has_samples = profile->stats.oncpu_period_ns != 0;
  if (absl::Status status = CheckValue(flags.outputs, has_samples); !status.ok()) return Fail(status);
  MarkStoredIdle(flags.outputs.idle, *idle, &*profile);
  KeepWanted(flags.outputs, &*profile);
  if (absl::Status status = WriteOutputs(flags.outputs, *profile); !status.ok()) {
    Fail(status);
    return kExitFailed;
  }
  TellHidden(flags.outputs, *profile);
  if (!flags.outputs.files.empty()) return kExitOk;
  FormatOptions options = FormatOptionsOf(flags.outputs, *profile);
  options.text_processes = kPrintedProcesses;
  options.text_stacks = kPrintedStacks;
  options.text_modules = kPrintedModules;
  WriteProfile(OutputFormat::kText, *profile, options, ToStdout);
  const absl::Status printed = FlushStdout();
  return printed.ok() ? kExitOk : Fail(printed);
}

}  // namespace

Verb AddReport(CLI::App& offcpu) {
  auto flags = std::make_shared<ReportFlags>();
  CLI::App* app = offcpu.add_subcommand("report", "Show a recorded .pb.gz file, or write it in another form");
  app->add_option("FILE", flags->file, "What record wrote to a file ending in .pb.gz")->required();
  AddOutputFlags(*app, "Waits for work: show their stacks, or only count them, as without it", &flags->outputs);
  app->footer(
      "Without -o it prints the 20 costliest processes and the 10 costliest stacks; a .txt file has 20 of each, the\n"
      "other forms have them all. No root is needed, nor the machine of the recording.\n"
      "\n"
      "Examples:\n"
      "  offcpu report waits.pb.gz                                    the costliest processes and stacks\n"
      "  offcpu report waits.pb.gz --by cause --only unit=nginx.service    what a service waits for\n"
      "  offcpu report waits.pb.gz -o waits.folded --unit ns          for flame graph tools\n"
      "  go tool pprof -proto -tagfocus pid=1234 waits.pb.gz > p.pb.gz; offcpu report p.pb.gz     of one process\n"
      "\n"
      "Exit status: 0 done, 1 the file is damaged or the result cannot be written, 2 wrong usage.");
  return {app, [flags] { return RunReport(*flags); }};
}

}  // namespace offcpu

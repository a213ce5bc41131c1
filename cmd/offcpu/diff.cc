// `offcpu diff`: what grew and what shrank from one stored recording to another.
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "bytes/write_file.h"
#include "html/html.h"
#include "offcpu/filter_flags.h"
#include "offcpu/outputs.h"
#include "offcpu/stored.h"
#include "offcpu/verb.h"
#include "output/diff.h"
#include "output/diff_files.h"
#include "output/diff_tables.h"
#include "output/frame_sources.h"
#include "output/source_places.h"

namespace offcpu {
namespace {

constexpr size_t kFileLines = 100;  // of a .txt file, by label and of stacks

struct DiffFlags {
  std::string before;
  std::string after;
  FilterFlags filter;
  OutputFlags outputs;
};

absl::Status CheckFormats(const OutputFlags& flags) {
  if (absl::Status status = CheckOutputs(flags); !status.ok()) return status;
  for (const std::string& file : flags.files) {
    const OutputFormat format = *FormatOfFile(flags, file);
    if (format != OutputFormat::kPprof && format != OutputFormat::kOtlp) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        file, ": diff writes .html, .folded, .json or .txt; pprof itself compares two .pb.gz files with -diff_base"));
  }
  return absl::OkStatus();
}

absl::StatusOr<NamedProfile> ReadSide(const std::string& file, const DiffFlags& flags, const ProfileFilter& filter,
                                      const IdlePatterns& idle) {
  absl::StatusOr<NamedProfile> profile = ReadStored(file, flags.outputs.idle, idle);
  if (!profile.ok()) return profile;
  if (profile->duration_ns == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, " does not say how long it was recorded, and diff compares figures per second"));
  }
  ApplyLineFlags(flags.outputs.lines, &*profile);
  KeepRows(filter, &*profile);
  if (flags.outputs.lines.in_names) profile = WithPlaces(*std::move(profile));
  if (flags.outputs.frame_sources) return WithFrameSources(*std::move(profile));
  return profile;
}

struct Sides {
  NamedProfile before;
  NamedProfile after;
  DiffOptions options;
};

absl::StatusOr<Sides> ReadSides(const DiffFlags& flags) {
  if (absl::Status status = CheckFormats(flags.outputs); !status.ok()) return status;
  const absl::StatusOr<ProfileFilter> filter = FilterOf(flags.filter);
  if (!filter.ok()) return filter.status();
  const absl::StatusOr<IdlePatterns> idle = ReadIdlePatterns(flags.outputs.idle.patterns);
  if (!idle.ok()) return idle.status();
  absl::StatusOr<NamedProfile> before = ReadSide(flags.before, flags, *filter, *idle);
  if (!before.ok()) return before.status();
  absl::StatusOr<NamedProfile> after = ReadSide(flags.after, flags, *filter, *idle);
  if (!after.ok()) return after.status();
  const bool had_samples = before->stats.oncpu_period_ns != 0;
  const bool has_samples = after->stats.oncpu_period_ns != 0;
  if (absl::Status status = CheckValue(flags.outputs, had_samples && has_samples); !status.ok()) return status;
  if (flags.outputs.value == "wall" && had_samples != has_samples) {
    return absl::InvalidArgumentError(absl::StrCat("--value wall: ", had_samples ? flags.after : flags.before,
                                                   " has no time on a CPU, but the other file has"));
  }
  const FormatOptions options = FormatOptionsOf(flags.outputs, *after);
  DiffOptions wanted = {.value = options.text_value, .by = options.text_by, .hide_idle = options.hide_idle};
  if (flags.outputs.value.empty() && !had_samples) wanted.value = RowValue::kOffCpu;
  return Sides{*std::move(before), *std::move(after), wanted};
}

bool IsPage(const OutputFlags& flags, const std::string& file) {
  return *FormatOfFile(flags, file) == OutputFormat::kHtml;
}

// A page chooses by itself what it compares, so it is made of all there is.
absl::Status WritePages(const Sides& sides, const OutputFlags& flags) {
  absl::Status written;
  const PageOptions options = {.value = sides.options.value, .hide_idle = flags.idle.hides()};
  for (const std::string& file : flags.files) {
    if (!IsPage(flags, file)) continue;
    written.Update(WriteFile(file, [&](ByteSink sink) { WriteHtmlOfBoth(sides.before, sides.after, options, sink); }));
  }
  return written;
}

void WriteDiff(OutputFormat format, const ProfileDiff& diff, const OutputFlags& flags, ByteSink sink) {
  if (format == OutputFormat::kFolded) return WriteDiffFolded(diff, flags.time_unit == "ns", sink);
  if (format == OutputFormat::kJson) return WriteDiffJson(diff, sink);
  WriteDiffTables(diff, kFileLines, kFileLines, sink);
}

ExitCode RunDiff(const DiffFlags& flags) {
  absl::StatusOr<Sides> sides = ReadSides(flags);
  if (!sides.ok()) return Fail(sides.status());
  absl::Status written = WritePages(*sides, flags.outputs);
  const ProfileDiff diff = DiffOf(std::move(sides->before), std::move(sides->after), sides->options);
  if (diff.stacks.empty()) std::fputs("offcpu: the filters leave nothing of either file\n", stderr);
  for (const std::string& file : flags.outputs.files) {
    if (IsPage(flags.outputs, file)) continue;
    const OutputFormat format = *FormatOfFile(flags.outputs, file);
    written.Update(WriteFile(file, [&](ByteSink sink) { WriteDiff(format, diff, flags.outputs, sink); }));
  }
  if (flags.outputs.files.empty()) {
    written = PrintWrapped([&](ByteSink sink) { WriteDiffTables(diff, kPrintedProcesses, kPrintedStacks, sink); });
  }
  TellHidden(flags.outputs, HiddenLine(diff));
  if (written.ok()) return kExitOk;
  Fail(written);
  return kExitFailed;
}

}  // namespace

Verb DiffVerb() {
  auto flags = std::make_shared<DiffFlags>();
  Verb verb = {.name = "diff", .help = "Show what grew and what shrank between two .pb.gz files"};
  verb.flags = {{"BEFORE", &flags->before, "The earlier recording, a .pb.gz file", "", {.is_required = true}},
                {"AFTER", &flags->after, "The later recording", "", {.is_required = true}}};
  AddFilterFlags(&flags->filter, &verb.flags);
  AddOutputFlags("Compare waits for work as well, or only count them (the default)", &flags->outputs, &verb.flags,
                 ".html, .folded, .json or .txt");
  verb.footer =
      "Stacks are compared by the names of their functions. Figures are per second, so recordings may differ in "
      "length. SHARE is the change in percent of all the time before. -o takes .html (a page for a browser), .folded "
      "(stack, before, after, like difffolded.pl; the values before are scaled to the length of AFTER), .json and "
      ".txt.\n"
      "\n"
      "Examples:\n"
      "  offcpu diff old.pb.gz new.pb.gz                          what grew and what shrank\n"
      "  offcpu diff old.pb.gz new.pb.gz --unit nginx --by cause  one service, by cause\n"
      "  offcpu diff old.pb.gz new.pb.gz -o diff.html             a page: red grew, blue shrank\n"
      "  offcpu diff old.pb.gz new.pb.gz -o diff.folded           for flamegraph.pl\n"
      "\n"
      "Exit status: 0 done, 1 a file is damaged or the result cannot be written, 2 wrong usage.";
  verb.run = [flags] { return RunDiff(*flags); };
  return verb;
}

}  // namespace offcpu

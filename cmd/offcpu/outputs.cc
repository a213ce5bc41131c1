#include "offcpu/outputs.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "bytes/write_file.h"
#include "classify/idle.h"
#include "labels/label_filter.h"
#include "tables/idle_table.h"

namespace offcpu {

void AddOutputFlags(CLI::App& app, const std::string& idle, OutputFlags* flags) {
  app.add_option("-o,--output", flags->files,
                 "Write the profile there: .folded, .pb.gz, .txt, .json or .otlp, by the suffix")
      ->type_name("FILE")
      ->allow_extra_args(false);  // in "-o FILE 5" the 5 is not another file
  app.add_option("--value", flags->value,
                 "What .folded files hold and tables are sorted by: off_cpu, blocked, runnable or count, and of a\n"
                 "recording with --oncpu also cpu, samples or wall (the default there)")
      ->check(CLI::IsMember({"off_cpu", "blocked", "runnable", "count", "cpu", "samples", "wall"}))
      ->type_name("VALUE");
  app.add_option("--by", flags->by,
                 "Print a table by this label instead of by process: container, cgroup, pod, unit, comm, kind, cause,\n"
                 "syscall, idle or another one of .json files")
      ->type_name("LABEL");
  app.add_option("--only", flags->only,
                 "Only rows with such a label, as in unit=nginx.service or cause=lock; * and ? stand for others")
      ->type_name("LABEL=PATTERN")
      ->allow_extra_args(false);
  app.add_option("--unit", flags->unit, "Of the values in .folded files: us or ns")
      ->check(CLI::IsMember({"us", "ns"}))
      ->type_name("UNIT")
      ->capture_default_str();
  app.add_flag("--frame-sources", flags->frame_sources,
               "Say behind each user frame in .folded, .txt and the tables how it was found");
  AddIdleFlags(app, idle, &flags->idle);
}

FormatOptions FormatOptionsOf(const OutputFlags& flags, const ProfileFacts& profile) {
  FormatOptions options;
  options.folded.nanoseconds = flags.unit == "ns";
  // One of those, or it was refused.
  options.folded.value = options.text_value = flags.value.empty() ? DefaultValue(profile) : *ParseRowValue(flags.value);
  options.frame_sources = flags.frame_sources;
  if (!flags.by.empty()) options.text_by = *ParseRowLabel(flags.by);
  options.hide_idle = flags.idle.hides();
  return options;
}

absl::Status CheckOutputs(const OutputFlags& flags) {
  for (const std::string& file : flags.files) {
    if (absl::Status status = FormatOf(file).status(); !status.ok()) return status;
    std::filesystem::path directory = std::filesystem::path(file).parent_path();
    if (directory.empty()) directory = ".";
    if (access(directory.c_str(), W_OK | X_OK) != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("cannot write ", file, ": ", directory.string(), ": ", strerror(errno)));
    }
  }
  if (absl::Status status = ParseRowLabel(flags.by).status(); !flags.by.empty() && !status.ok()) return status;
  for (const std::string& filter : flags.only) {
    if (absl::Status status = ParseLabelFilter(filter).status(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

void KeepWanted(const OutputFlags& flags, NamedProfile* profile) {
  std::vector<LabelFilter> filters;
  for (const std::string& filter : flags.only) filters.push_back(*ParseLabelFilter(filter));
  KeepRows(filters, profile);
}

absl::Status CheckValue(const OutputFlags& flags, bool has_samples) {
  if (has_samples || (flags.value != "cpu" && flags.value != "samples")) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--value ", flags.value, " is of a recording with samples of what runs: `--oncpu HZ` takes them"));
}

absl::Status WriteOutputs(const OutputFlags& flags, const NamedProfile& profile) {
  const FormatOptions options = FormatOptionsOf(flags, profile);
  for (const std::string& file : flags.files) {
    const OutputFormat format = *FormatOf(file);
    absl::Status status = WriteFile(file, [&](ByteSink sink) { WriteProfile(format, profile, options, sink); });
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void TellHidden(const OutputFlags& flags, const NamedProfile& profile) {
  const auto is_folded = [](const std::string& file) { return *FormatOf(file) == OutputFormat::kFolded; };
  if (!flags.idle.hides() || std::none_of(flags.files.begin(), flags.files.end(), is_folded)) return;
  std::fputs(IdleLine(SumIdle(profile)).c_str(), stderr);
}

void ToStdout(std::string_view piece) { std::fwrite(piece.data(), 1, piece.size(), stdout); }

absl::Status FlushStdout() {
  return std::fflush(stdout) == 0 ? absl::OkStatus() : absl::InternalError("cannot write to the standard output");
}

}  // namespace offcpu

#include "offcpu/outputs.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "bytes/write_file.h"
#include "tables/columns.h"

namespace offcpu {
namespace {

// The width of the terminal that the standard output is, 80 at least; kNoLimit if it is none.
size_t StdoutColumns() {
  constexpr size_t kMinColumns = 80;
  if (isatty(STDOUT_FILENO) == 0) return kNoLimit;
  winsize window = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0) return kMinColumns;
  return std::max<size_t>(window.ws_col, kMinColumns);
}

}  // namespace

void AddOutputFlags(const std::string& idle, OutputFlags* values, std::vector<Flag>* flags,
                    const std::string& formats) {
  flags->insert(
      flags->end(),
      {
          {"-o,--output", &values->files, absl::StrCat("Write the profile there: ", formats, ", by the suffix"),
           "FILE"},
          {"--value",
           &values->value,
           "What .folded files hold and tables are sorted by: off_cpu, blocked, runnable or count, and of a\n"
           "recording with --oncpu also cpu, samples or wall (the default there)",
           "VALUE",
           {.one_of = RowValueNames(true)}},
          {"--by", &values->by,
           "Print a table by process, command, thread, cause, syscall, container, unit, cgroup, pod, comm, kind,\n"
           "idle or another label of .json files; without it programs, or stacks of what is selected",
           "LABEL"},
          {"--time-unit",
           &values->time_unit,
           "Of the values in .folded files: us or ns",
           "UNIT",
           {.one_of = {"us", "ns"}, .shows_default = true}},
          {"--frame-sources", &values->frame_sources,
           "Say behind each user frame in .folded, .txt and the tables how it was found"},
      });
  AddIdleFlags(idle, &values->idle, flags);
}

Flag PerThreadFlag(OutputFlags* values) {
  return {"--per-thread", &values->per_thread,
          "Keep the threads of a process apart; of a stored recording only if it was made with this option"};
}

FormatOptions FormatOptionsOf(const OutputFlags& flags, const ProfileFacts& profile) {
  FormatOptions options;
  options.folded.nanoseconds = flags.time_unit == "ns";
  // One of those, or it was refused.
  options.folded.value = options.text_value = flags.value.empty() ? DefaultValue(profile) : *ParseRowValue(flags.value);
  options.frame_sources = flags.frame_sources;
  if (!flags.by.empty()) options.text_by = *ParseTableBy(flags.by);
  options.folded.per_process = options.text_by.apart == RowsApart::kProcesses;
  options.text_per_thread = flags.per_thread;
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
  if (absl::Status status = ParseTableBy(flags.by).status(); !flags.by.empty() && !status.ok()) return status;
  return absl::OkStatus();
}

absl::Status CheckValue(const OutputFlags& flags, bool has_samples) {
  if (has_samples || (flags.value != "cpu" && flags.value != "samples")) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--value ", flags.value, " is of a recording with samples of what runs: `--oncpu HZ` takes them"));
}

absl::Status CheckThreads(const OutputFlags& flags, const NamedProfile& profile) {
  const auto is_of_one = [](const NamedRow& row) { return row.tid != 0; };
  const bool has_threads = profile.rows.empty() || std::any_of(profile.rows.begin(), profile.rows.end(), is_of_one);
  if (!flags.per_thread || has_threads) return absl::OkStatus();
  return absl::InvalidArgumentError("this recording does not keep threads apart: `offcpu record --per-thread` does");
}

absl::Status WriteOutputs(const OutputFlags& flags, const NamedProfile& profile) {
  const FormatOptions options = FormatOptionsOf(flags, profile);
  absl::Status written;
  for (const std::string& file : flags.files) {
    const OutputFormat format = *FormatOf(file);
    written.Update(WriteFile(file, [&](ByteSink sink) { WriteProfile(format, profile, options, sink); }));
  }
  return written;
}

void TellHidden(const OutputFlags& flags, const std::string& line) {
  const auto is_folded = [](const std::string& file) { return *FormatOf(file) == OutputFormat::kFolded; };
  if (!flags.idle.hides() || std::none_of(flags.files.begin(), flags.files.end(), is_folded)) return;
  std::fputs(line.c_str(), stderr);
}

void ToStdout(std::string_view piece) { std::fwrite(piece.data(), 1, piece.size(), stdout); }

absl::Status FlushStdout() {
  return std::fflush(stdout) == 0 ? absl::OkStatus() : absl::InternalError("cannot write to the standard output");
}

absl::Status PrintWrapped(absl::FunctionRef<void(ByteSink)> write) {
  std::string text;
  write([&text](std::string_view piece) { text += piece; });
  ToStdout(Wrapped(text, StdoutColumns()));
  return FlushStdout();
}

absl::Status PrintTables(const OutputFlags& flags, const NamedProfile& profile, TextTables tables) {
  FormatOptions options = FormatOptionsOf(flags, profile);
  options.text_tables = tables;
  options.text_processes = kPrintedProcesses;
  options.text_stacks = kPrintedStacks;
  options.text_modules = kPrintedModules;
  options.text_columns = StdoutColumns();
  return PrintWrapped([&](ByteSink sink) { WriteProfile(OutputFormat::kText, profile, options, sink); });
}

}  // namespace offcpu

#include "offcpu/outputs.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "bytes/units.h"
#include "bytes/utf8.h"
#include "bytes/write_file.h"
#include "html/source_link.h"
#include "tables/columns.h"
#include "tables/profilers.h"

namespace offcpu {
namespace {

// The terminal that the standard output is: 80 columns at least, 0 lines if it does not say. Without one, both have no
// limit.
struct Terminal {
  size_t columns = kNoLimit;
  size_t lines = kNoLimit;
};

Terminal StdoutTerminal() {
  constexpr size_t kMinColumns = 80;
  if (isatty(STDOUT_FILENO) == 0) return {};
  winsize window = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0) return {.columns = kMinColumns, .lines = 0};
  return {.columns = std::max<size_t>(window.ws_col, kMinColumns), .lines = window.ws_row};
}

// So many that they stay on the screen together with the summary.
size_t PrintedProcesses(size_t lines) {
  constexpr size_t kOtherLines = 18;
  constexpr size_t kFewest = 8;
  if (lines == 0) return kPrintedProcesses;
  return std::clamp(lines - std::min(lines, kOtherLines), kFewest, kPrintedProcesses);
}

// What is printed below the tables: where the rest is.
void WriteWhereTheRestIs(const OutputFlags& flags, const RowSums& profilers, bool is_short, ByteSink sink) {
  if (profilers.events() != 0) {
    sink(absl::StrCat("left out      offcpu and offcpud, ", FormatDuration(profilers.total_ns()),
                      " off a CPU: --only 'process=offcpu*' shows them\n"));
  }
  std::vector<std::string> files;
  for (const std::string& file : flags.files) files.push_back(Printable(file));
  if (!files.empty()) sink(absl::StrCat("written       ", absl::StrJoin(files, ", "), "\n"));
  if (is_short) sink("more          --verbose: all counters, and which unwind tables are missing\n");
}

int stdout_error = 0;  // the first one of ToStdout and FlushStdout

bool IsStdout(const std::string& file) { return file == "-" || file == "/dev/stdout"; }

// Can the file be written where it is to be? A terminal takes no bytes that are none of a text.
absl::Status CheckPlace(const std::string& file, OutputFormat format) {
  if (IsStdout(file)) {
    const bool is_text = format != OutputFormat::kPprof && format != OutputFormat::kOtlp;
    if (is_text || isatty(STDOUT_FILENO) == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(file, ": this format is binary and is not written to a terminal"));
  }
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    return absl::InvalidArgumentError(absl::StrCat("cannot write ", file, ": it is a directory"));
  const bool is_written_directly =
      std::filesystem::exists(file, error) && !std::filesystem::is_regular_file(file, error);
  std::filesystem::path place = file;
  if (!is_written_directly) place = place.parent_path();
  if (place.empty()) place = ".";
  if (access(place.c_str(), is_written_directly ? W_OK : W_OK | X_OK) == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("cannot write ", file, ": ", place.string(), ": ", strerror(errno)));
}

// What is wrong with one file, and with another.
absl::Status Joined(const absl::Status& one, const absl::Status& other) {
  if (one.ok() || other.ok()) return one.ok() ? other : one;
  return {one.code(), absl::StrCat(std::string(one.message()), "; ", std::string(other.message()))};
}

}  // namespace

bool WritesToStdout(const OutputFlags& flags) { return std::any_of(flags.files.begin(), flags.files.end(), IsStdout); }

void AddOutputFlags(const std::string& idle, OutputFlags* values, std::vector<Flag>* flags,
                    const std::string& formats) {
  flags->insert(
      flags->end(),
      {
          {"-o,--output", &values->files, absl::StrCat("Write the profile to FILE: ", formats, ", by the suffix"),
           "FILE"},
          {"--format",
           &values->format,
           "The format of \"-\" (standard output), and of files whose suffix names none",
           "FORMAT",
           {.one_of = {"folded", "pb.gz", "txt", "json", "otlp", "html"}}},
          {"--value",
           &values->value,
           "What .folded files hold and tables are sorted by: off_cpu (the default), blocked, runnable or\ncount; with "
           "--oncpu also cpu, samples or wall (then the default)",
           "VALUE",
           {.one_of = RowValueNames(true)}},
          {"--by", &values->by,
           "Print a table by process, command, thread, cause, syscall, container, unit, cgroup, pod, comm, "
           "kind,\nwait, idle or another label of .json files; by default, by program, or only the stacks if something "
           "was selected",
           "LABEL"},
          {"--time-unit",
           &values->time_unit,
           "The unit of the values in .folded files: us or ns",
           "UNIT",
           {.one_of = {"us", "ns"}, .shows_default = true}},
          {"--frame-sources", &values->frame_sources,
           "In .folded, .txt and the tables, show for each user frame how it was found"},
      });
  AddIdleFlags(idle, &values->idle, flags);
  flags->push_back(
      {"--lines", &values->lines.in_names, "In .folded, .txt and the tables, show the source line of each user frame"});
  AddLineFlags(&values->lines, flags);
}

Flag PerThreadFlag(OutputFlags* values) {
  return {"--per-thread", &values->per_thread,
          "Keep the threads of a process apart; report and dump need a recording made with this option"};
}

Flag SourceLinkFlag(OutputFlags* values) {
  return {
      "--source-link", &values->source_links,
      "Link frames in .html to their source: %f is the file, %l the line. With PREFIX only files below it are linked,\n"
      "and %f lacks it. Can be repeated: the first one that fits is used",
      "[PREFIX=]URL"};
}

Flag VerboseFlag(OutputFlags* values) {
  return {
      "--verbose", &values->verbose,
      "On a terminal, print all that a file or a pipe gets: all counters, and which modules' unwind tables were used"};
}

bool WritesOtlp(const OutputFlags& flags) {
  return std::any_of(flags.files.begin(), flags.files.end(), [&flags](const std::string& file) {
    const absl::StatusOr<OutputFormat> format = FormatOfFile(flags, file);
    return format.ok() && *format == OutputFormat::kOtlp;
  });
}

FormatOptions FormatOptionsOf(const OutputFlags& flags, const ProfileFacts& profile) {
  FormatOptions options;
  options.folded.nanoseconds = flags.time_unit == "ns";
  // One of those, or it was refused.
  options.folded.value = options.text_value = flags.value.empty() ? DefaultValue(profile) : *ParseRowValue(flags.value);
  options.frame_sources = flags.frame_sources;
  options.places = flags.lines.in_names;
  if (!flags.by.empty()) options.text_by = *ParseTableBy(flags.by);
  options.folded.per_process = options.text_by.apart == RowsApart::kProcesses;
  options.text_per_thread = flags.per_thread;
  options.hide_idle = flags.idle.hides();
  // Each is one, or it was refused.
  for (const std::string& link : flags.source_links) options.source_links.push_back(*ParseSourceLink(link));
  return options;
}

absl::StatusOr<OutputFormat> FormatOfFile(const OutputFlags& flags, const std::string& file) {
  absl::StatusOr<OutputFormat> by_name = FormatOf(file);
  if (by_name.ok()) return by_name;
  if (!flags.format.empty()) return FormatOf("." + flags.format);
  return absl::InvalidArgumentError(
      absl::StrCat(std::string(by_name.status().message()), ", or name the format with --format"));
}

absl::Status CheckOutputs(const OutputFlags& flags) {
  absl::Status places;
  for (const std::string& file : flags.files) {
    const absl::StatusOr<OutputFormat> format = FormatOfFile(flags, file);
    if (!format.ok()) return format.status();
    places = Joined(places, CheckPlace(file, *format));
  }
  if (!places.ok()) return places;
  for (const std::string& link : flags.source_links) {
    if (absl::Status status = ParseSourceLink(link).status(); !status.ok()) return status;
  }
  if (absl::Status status = ParseTableBy(flags.by).status(); !flags.by.empty() && !status.ok()) return status;
  return absl::OkStatus();
}

absl::Status CheckValue(const OutputFlags& flags, bool has_samples) {
  if (has_samples || (flags.value != "cpu" && flags.value != "samples")) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--value ", flags.value, " needs samples of what runs: record with `--oncpu HZ`"));
}

absl::Status CheckThreads(const OutputFlags& flags, const NamedProfile& profile) {
  const auto is_of_one = [](const NamedRow& row) { return row.tid != 0; };
  const bool has_threads = profile.rows.empty() || std::any_of(profile.rows.begin(), profile.rows.end(), is_of_one);
  if (!flags.per_thread || has_threads) return absl::OkStatus();
  return absl::InvalidArgumentError("this recording does not keep threads apart: record with `--per-thread`");
}

absl::Status WriteOutputs(const OutputFlags& flags, const NamedProfile& profile, std::vector<std::string>* written) {
  const FormatOptions options = FormatOptionsOf(flags, profile);
  absl::Status all;
  for (const std::string& file : flags.files) {
    const OutputFormat format = *FormatOfFile(flags, file);
    const absl::Status one = WriteFile(file, [&](ByteSink sink) { WriteProfile(format, profile, options, sink); });
    if (one.ok() && written != nullptr) written->push_back(file);
    all = Joined(all, one);
  }
  return all;
}

void TellHidden(const OutputFlags& flags, const std::string& line) {
  const auto is_folded = [&flags](const std::string& file) {
    return *FormatOfFile(flags, file) == OutputFormat::kFolded;
  };
  if (!flags.idle.hides() || std::none_of(flags.files.begin(), flags.files.end(), is_folded)) return;
  std::fputs(line.c_str(), stderr);
}

void ToStdout(std::string_view piece) {
  const bool is_written = std::fwrite(piece.data(), 1, piece.size(), stdout) == piece.size();
  if (!is_written && stdout_error == 0) stdout_error = errno;
}

// A piece that is larger than the buffer is written at once: of its failure fflush says nothing.
absl::Status FlushStdout() {
  if (std::fflush(stdout) != 0 && stdout_error == 0) stdout_error = errno;
  if (stdout_error == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("cannot write to standard output: ", strerror(stdout_error)));
}

absl::Status PrintWrapped(absl::FunctionRef<void(ByteSink)> write) {
  std::string text;
  write([&text](std::string_view piece) { text += piece; });
  ToStdout(Wrapped(text, StdoutTerminal().columns));
  return FlushStdout();
}

absl::Status PrintTables(const OutputFlags& flags, NamedProfile profile, TextTables tables, bool is_whole_host,
                         const std::string& note) {
  const RowSums profilers = is_whole_host ? LeaveOutProfilers(&profile) : RowSums();
  const Terminal terminal = StdoutTerminal();
  FormatOptions options = FormatOptionsOf(flags, profile);
  options.text_tables = tables;
  options.text_stacks = kPrintedStacks;
  options.text_modules = kPrintedModules;
  options.text_columns = terminal.columns;
  options.text_is_short = terminal.columns != kNoLimit && !flags.verbose;
  options.text_processes = options.text_is_short ? PrintedProcesses(terminal.lines) : kPrintedProcesses;
  return PrintWrapped([&](ByteSink sink) {
    WriteProfile(OutputFormat::kText, profile, options, sink);
    if (!note.empty()) sink(absl::StrCat("selection     ", Printable(note), "\n"));
    WriteWhereTheRestIs(flags, profilers, options.text_is_short, sink);
  });
}

}  // namespace offcpu

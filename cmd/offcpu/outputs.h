// The files that `offcpu record` and `offcpu report` write, and the flags that say which and how.
#ifndef OFFCPU_CMD_OFFCPU_OUTPUTS_H_
#define OFFCPU_CMD_OFFCPU_OUTPUTS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bytes/byte_sink.h"
#include "offcpu/flag.h"
#include "offcpu/idle_flags.h"
#include "offcpu/line_flags.h"
#include "output/format.h"
#include "profile/named_profile.h"

namespace offcpu {

struct OutputFlags {
  std::vector<std::string> files;
  std::string format;  // of files whose names do not say it
  std::string time_unit = "us";
  std::string value;  // empty: all the time there is
  std::string by;     // as ParseTableBy has it; empty: by program
  bool per_thread = false;
  bool verbose = false;
  bool frame_sources = false;
  std::vector<std::string> source_links;  // as ParseSourceLink has them
  IdleFlags idle;
  LineFlags lines;
};

// `idle`: what --idle does.
void AddOutputFlags(const std::string& idle, OutputFlags* values, std::vector<Flag>* flags,
                    const std::string& formats = ".folded, .pb.gz, .txt, .json, .otlp or .html");

// Not for a difference: it matches the threads of two recordings by their names.
Flag PerThreadFlag(OutputFlags* values);

// Not for a difference, whose frames are at many places.
Flag SourceLinkFlag(OutputFlags* values);

// For verbs that print the tables of a profile.
Flag VerboseFlag(OutputFlags* values);

// The lines of the tables that are printed; a .txt file has more.
inline constexpr size_t kPrintedProcesses = 20;
inline constexpr size_t kPrintedStacks = 10;
inline constexpr size_t kPrintedModules = 5;

// By its name, else by --format. InvalidArgument if neither says it.
absl::StatusOr<OutputFormat> FormatOfFile(const OutputFlags& flags, const std::string& file);

bool WritesOtlp(const OutputFlags& flags);

FormatOptions FormatOptionsOf(const OutputFlags& flags, const ProfileFacts& profile);

// InvalidArgument for a file whose format is not known or that cannot be written, for a label that there is not, and
// for a link that is none: to be known before the work, not after it.
absl::Status CheckOutputs(const OutputFlags& flags);

// InvalidArgument for a value of samples where there are none.
absl::Status CheckValue(const OutputFlags& flags, bool has_samples);

// InvalidArgument for --per-thread where the recording tells no threads apart.
absl::Status CheckThreads(const OutputFlags& flags, const NamedProfile& profile);

// Is one of the files the standard output? Then nothing else goes there.
bool WritesToStdout(const OutputFlags& flags);

// Adds the files that could be written to `written`, unless that is null.
absl::Status WriteOutputs(const OutputFlags& flags, const NamedProfile& profile,
                          std::vector<std::string>* written = nullptr);

// Files of stacks have no place for the line that says what they do not hold: it goes to the standard error.
void TellHidden(const OutputFlags& flags, const std::string& line);

// A sink, and whether all that went into it was written.
void ToStdout(std::string_view piece);
absl::Status FlushStdout();

// Text for readers, as wide as the terminal; and the tables of a profile as that.
absl::Status PrintWrapped(absl::FunctionRef<void(ByteSink)> write);
// `is_whole_host`: nothing of it was selected, so the profiler's own programs are left out. `note`: for the summary,
// which names the files of the flags as written.
absl::Status PrintTables(const OutputFlags& flags, NamedProfile profile, TextTables tables, bool is_whole_host,
                         const std::string& note = "");

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_OUTPUTS_H_

// The files that `offcpu record` and `offcpu report` write, and the flags that say which and how.
#ifndef OFFCPU_CMD_OFFCPU_OUTPUTS_H_
#define OFFCPU_CMD_OFFCPU_OUTPUTS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "offcpu/idle_flags.h"
#include "output/format.h"
#include "profile/named_profile.h"

namespace offcpu {

struct OutputFlags {
  std::vector<std::string> files;
  std::string unit = "us";
  std::string value;  // empty: all the time there is
  std::string by;     // a label; empty: by process
  std::vector<std::string> only;
  bool frame_sources = false;
  IdleFlags idle;
};

// `idle`: what --idle does.
void AddOutputFlags(CLI::App& app, const std::string& idle, OutputFlags* flags);

// The lines of the tables that are printed; a .txt file has more.
inline constexpr size_t kPrintedProcesses = 20;
inline constexpr size_t kPrintedStacks = 10;
inline constexpr size_t kPrintedModules = 5;

FormatOptions FormatOptionsOf(const OutputFlags& flags, const ProfileFacts& profile);

// InvalidArgument for a file whose suffix is none of a format or whose directory cannot be written to, and for a label
// that there is not: to be known before the work, not after it.
absl::Status CheckOutputs(const OutputFlags& flags);

// InvalidArgument for a value of samples where there are none.
absl::Status CheckValue(const OutputFlags& flags, bool has_samples);

// Leaves out what is not wanted.
void KeepWanted(const OutputFlags& flags, NamedProfile* profile);

absl::Status WriteOutputs(const OutputFlags& flags, const NamedProfile& profile);

// Files of stacks have no place for a line that says what they do not hold: it goes to the standard error.
void TellHidden(const OutputFlags& flags, const NamedProfile& profile);

// A sink, and whether all that went into it was written.
void ToStdout(std::string_view piece);
absl::Status FlushStdout();

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_OUTPUTS_H_

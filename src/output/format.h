// The output formats, chosen by the suffix of a file's name: .folded, .pb.gz, .txt, .json, .otlp.
#ifndef OFFCPU_OUTPUT_FORMAT_H_
#define OFFCPU_OUTPUT_FORMAT_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "bytes/byte_sink.h"
#include "labels/row_labels.h"
#include "output/folded.h"
#include "profile/named_profile.h"

namespace offcpu {

enum class OutputFormat { kFolded, kPprof, kText, kJson, kOtlp };

// InvalidArgument, naming the known suffixes, if `path` has none of them.
absl::StatusOr<OutputFormat> FormatOf(const std::string& path);

struct FormatOptions {
  FoldedOptions folded;
  RowValue text_value = RowValue::kOffCpu;  // what its tables are sorted by
  size_t text_processes = 20;               // lines of the process table
  size_t text_stacks = 20;                  // costliest stacks
  std::optional<RowLabel> text_by;          // a table of what this label says instead of that of processes
  size_t text_modules = 100;                // lines of the table of modules
  bool frame_sources = false;               // .folded and .txt: names of user frames end with how they were found
  bool hide_idle = true;                    // .folded and .txt: leave out waits for work that are marked; see idle.h
};

void WriteProfile(OutputFormat format, const NamedProfile& profile, const FormatOptions& options, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_OUTPUT_FORMAT_H_

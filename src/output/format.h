// The list of output formats, chosen by the suffix of a file's name: .folded, .pb.gz, .txt, .json, .otlp, .html. Each
// writes a NamedProfile into a ByteSink, in a folder of its own (src/json, src/html, ...) or in a source beside this.
#ifndef OFFCPU_OUTPUT_FORMAT_H_
#define OFFCPU_OUTPUT_FORMAT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bytes/byte_sink.h"
#include "html/page_data.h"
#include "output/folded.h"
#include "profile/named_profile.h"
#include "tables/label_table.h"

namespace offcpu {

enum class OutputFormat { kFolded, kPprof, kText, kJson, kOtlp, kHtml };

// InvalidArgument, naming the known suffixes, if `path` has none of them.
absl::StatusOr<OutputFormat> FormatOf(const std::string& path);

// Those that come first in .txt; `kGroups` are programs, or what text_by says.
enum class TextTables { kGroupsAndStacks, kGroups, kStacks };

struct FormatOptions {
  FoldedOptions folded;
  RowValue text_value = RowValue::kOffCpu;  // what its tables are sorted by, and what .html shows first
  TextTables text_tables = TextTables::kGroupsAndStacks;
  size_t text_processes = 20;      // lines of the process table
  size_t text_stacks = 20;         // costliest stacks
  TableBy text_by;                 // what the first table is of
  bool text_per_thread = false;    // stacks of each thread
  size_t text_columns = kNoLimit;  // of the terminal
  size_t text_modules = 100;       // lines of the table of modules
  bool text_is_short = false;      // of the summary only the first lines, no patterns of idle.h, no table of modules
  bool frame_sources = false;      // .folded and .txt: names of user frames end with how they were found
  bool places = false;             // .folded and .txt: names of user frames end with their place in the source
  bool html_live = false;          // .html: see PageOptions::live
  size_t html_stacks = PageOptions().max_stacks;
  std::vector<SourceLink> source_links;  // .html: see PageOptions::source_links
  bool hide_idle = true;  // .folded and .txt: leave out waits for work that are marked (idle.h); .html: at first
};

void WriteProfile(OutputFormat format, const NamedProfile& profile, const FormatOptions& options, ByteSink sink);

}  // namespace offcpu

#endif  // OFFCPU_OUTPUT_FORMAT_H_

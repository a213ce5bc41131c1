#include "output/format.h"

#include <array>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "classify/idle.h"
#include "html/html.h"
#include "json/profile_json.h"
#include "labels/row_error.h"
#include "otlp/otlp.h"
#include "output/frame_sources.h"
#include "output/source_places.h"
#include "pprof/pprof.h"
#include "tables/coverage_table.h"
#include "tables/idle_table.h"
#include "tables/label_table.h"
#include "tables/ledger_table.h"
#include "tables/summary.h"
#include "tables/table.h"

namespace offcpu {
namespace {

constexpr std::array<std::pair<std::string_view, OutputFormat>, 6> kSuffixes = {{
    {".folded", OutputFormat::kFolded},
    {".pb.gz", OutputFormat::kPprof},
    {".txt", OutputFormat::kText},
    {".json", OutputFormat::kJson},
    {".otlp", OutputFormat::kOtlp},
    {".html", OutputFormat::kHtml},
}};

// One request, of everything that a message can hold: files are read whole. Recordings of one host differ in when they
// began, so that is the id.
void WriteOtlpFile(const NamedProfile& profile, ByteSink sink) {
  OtlpOptions options = {.max_bytes = kMaxOtlpBytes, .max_samples = std::numeric_limits<size_t>::max()};
  for (size_t i = 0; i < 8; ++i) options.window_id[8 + i] = static_cast<uint8_t>(profile.start_unix_ns >> (56 - 8 * i));
  WriteOtlp(profile, options, [&](const std::string& request) { sink(request); });
}

// The options of a table of `limit` lines or stacks.
TableOptions TableOptionsOf(const FormatOptions& options, size_t limit) {
  const RowsApart apart = options.text_per_thread ? RowsApart::kThreads : options.text_by.apart;
  return {.value = options.text_value, .limit = limit, .apart = apart, .columns = options.text_columns};
}

void WriteText(const NamedProfile& profile, const FormatOptions& options, ByteSink sink) {
  const TableBy& by = options.text_by;
  const ShownRows shown(profile, options.hide_idle && by.label != RowLabel::kIdle);
  const TableOptions groups = TableOptionsOf(options, options.text_processes);
  const TableOptions stacks = TableOptionsOf(options, options.text_stacks);
  const bool has_both = options.text_tables == TextTables::kGroupsAndStacks;
  if (options.text_tables == TextTables::kStacks) {
    WriteStackTable(profile, shown.rows(), stacks, sink);
  } else if (by.label.has_value()) {
    WriteLabelTable(profile, shown.rows(), by, groups, sink);
  } else {
    WriteProcessTable(profile, shown.rows(), groups, sink);
  }
  if (shown.is_less()) sink(IdleLine(shown.sums()));
  sink(ErrorLegend(profile));
  sink("\n");
  if (has_both) WriteStackTable(profile, shown.rows(), stacks, sink);
  WriteLedgerTable(profile, options.text_processes, sink);
  if (!profile.ledger.empty()) sink("\n");
  if (options.text_is_short) return WriteShortSummary(profile, shown.is_less(), sink);
  WriteSummary(profile, shown.is_less(), sink);
  WriteIdleTable(shown.sums(), shown.is_less(), sink);
  if (has_both) sink("\n");
  WriteCoverageTable(profile, has_both, options.text_modules, sink);
}

}  // namespace

absl::StatusOr<OutputFormat> FormatOf(const std::string& path) {
  std::string known;
  for (const auto& [suffix, format] : kSuffixes) {
    if (path.ends_with(suffix)) return format;
    absl::StrAppend(&known, known.empty() ? "" : ", ", std::string(suffix));
  }
  return absl::InvalidArgumentError(absl::StrCat(path, ": the suffix chooses the format; use one of ", known));
}

void WriteProfile(OutputFormat format, const NamedProfile& profile, const FormatOptions& options, ByteSink sink) {
  if (options.places && (format == OutputFormat::kFolded || format == OutputFormat::kText)) {
    FormatOptions done = options;
    done.places = false;
    return WriteProfile(format, WithPlaces(profile), done, sink);
  }
  if (options.frame_sources && (format == OutputFormat::kFolded || format == OutputFormat::kText)) {
    FormatOptions done = options;
    done.frame_sources = false;
    return WriteProfile(format, WithFrameSources(profile), done, sink);
  }
  switch (format) {
    case OutputFormat::kFolded:
      WriteFolded(profile, ShownRows(profile, options.hide_idle).rows(), options.folded, sink);
      break;
    case OutputFormat::kPprof:
      WritePprof(profile, sink);
      break;
    case OutputFormat::kText:
      WriteText(profile, options, sink);
      break;
    case OutputFormat::kJson:
      WriteProfileJson(profile, sink);
      break;
    case OutputFormat::kOtlp:
      WriteOtlpFile(profile, sink);
      break;
    case OutputFormat::kHtml:
      WriteHtml(profile,
                {.value = options.text_value,
                 .hide_idle = options.hide_idle,
                 .max_stacks = options.html_stacks,
                 .live = options.html_live,
                 .source_links = options.source_links},
                sink);
      break;
  }
}

}  // namespace offcpu

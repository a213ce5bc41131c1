#include "output/format.h"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "classify/idle.h"
#include "json/profile_json.h"
#include "otlp/otlp.h"
#include "output/frame_sources.h"
#include "pprof/pprof.h"
#include "tables/coverage_table.h"
#include "tables/idle_table.h"
#include "tables/label_table.h"
#include "tables/ledger_table.h"
#include "tables/summary.h"
#include "tables/table.h"

namespace offcpu {
namespace {

constexpr std::array<std::pair<std::string_view, OutputFormat>, 5> kSuffixes = {{
    {".folded", OutputFormat::kFolded},
    {".pb.gz", OutputFormat::kPprof},
    {".txt", OutputFormat::kText},
    {".json", OutputFormat::kJson},
    {".otlp", OutputFormat::kOtlp},
}};

// One request, of everything that a message can hold: files are read whole. Recordings of one host differ in when they
// began, so that is the id.
void WriteOtlpFile(const NamedProfile& profile, ByteSink sink) {
  OtlpOptions options = {.max_bytes = kMaxOtlpBytes};
  for (size_t i = 0; i < 8; ++i) options.window_id[8 + i] = static_cast<uint8_t>(profile.start_unix_ns >> (56 - 8 * i));
  WriteOtlp(profile, options, [&](const std::string& request) { sink(request); });
}

// What is left of a profile where it is left out; else a copy would be a waste.
class Shown {
 public:
  Shown(const NamedProfile& profile, bool hide_idle)
      : sums_(SumIdle(profile)), is_less_(hide_idle && !sums_.empty()), all_(profile) {
    if (is_less_) rest_ = WithoutIdle(profile);
  }
  const NamedProfile& profile() const { return is_less_ ? rest_ : all_; }
  const std::vector<IdleSum>& sums() const { return sums_; }
  bool is_less() const { return is_less_; }

 private:
  std::vector<IdleSum> sums_;
  bool is_less_;
  const NamedProfile& all_;
  NamedProfile rest_;
};

void WriteText(const NamedProfile& profile, const FormatOptions& options, ByteSink sink) {
  const Shown shown(profile, options.hide_idle);
  if (options.text_by.has_value()) {
    WriteLabelTable(profile, *options.text_by, options.text_value, options.hide_idle, options.text_processes, sink);
  } else {
    WriteProcessTable(shown.profile(), options.text_value, options.text_processes, sink);
  }
  if (shown.is_less() && options.text_by != RowLabel::kIdle) sink(IdleLine(shown.sums()));
  sink("\n");
  WriteStackTable(shown.profile(), options.text_value, options.text_stacks, sink);
  WriteLedgerTable(profile, options.text_processes, sink);
  if (!profile.ledger.empty()) sink("\n");
  WriteSummary(profile, sink);
  WriteIdleTable(shown.sums(), shown.is_less(), sink);
  sink("\n");
  WriteCoverageTable(profile, true, options.text_modules, sink);
}

}  // namespace

absl::StatusOr<OutputFormat> FormatOf(const std::string& path) {
  std::string known;
  for (const auto& [suffix, format] : kSuffixes) {
    if (path.ends_with(suffix)) return format;
    absl::StrAppend(&known, known.empty() ? "" : ", ", std::string(suffix));
  }
  return absl::InvalidArgumentError(absl::StrCat(path, ": the format is chosen by the suffix, one of ", known));
}

void WriteProfile(OutputFormat format, const NamedProfile& profile, const FormatOptions& options, ByteSink sink) {
  if (options.frame_sources && (format == OutputFormat::kFolded || format == OutputFormat::kText)) {
    FormatOptions done = options;
    done.frame_sources = false;
    return WriteProfile(format, WithFrameSources(profile), done, sink);
  }
  switch (format) {
    case OutputFormat::kFolded:
      WriteFolded(Shown(profile, options.hide_idle).profile(), options.folded, sink);
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
  }
}

}  // namespace offcpu

#include "tables/coverage_table.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "bytes/utf8.h"
#include "labels/coverage.h"

namespace offcpu {
namespace {

constexpr FrameSource kShown[] = {FrameSource::kSFrame, FrameSource::kEhFrame, FrameSource::kDebugFrame,
                                  FrameSource::kFramePointer};

std::string PathOf(const ModuleCoverage& coverage) {
  return coverage.code == nullptr ? "[code without a file]" : Printable(coverage.code->path);
}

std::string EarlyEnds(const ModuleCoverage& coverage) {
  std::vector<std::string> ends;
  for (size_t i = 0; i < coverage.ends.size(); ++i) {
    const auto reason = static_cast<EndReason>(i);
    if (reason == EndReason::kComplete || coverage.ends[i] == 0) continue;
    ends.push_back(absl::StrCat(std::string(Name(reason)), " ", coverage.ends[i]));
  }
  return absl::StrJoin(ends, ", ");
}

}  // namespace

void WriteCoverageTable(const NamedProfile& profile, bool all, size_t limit, ByteSink sink) {
  std::vector<ModuleCoverage> modules = CoverageOf(profile);
  if (!all) std::erase_if(modules, [](const ModuleCoverage& m) { return m.early_ends() == 0; });
  if (modules.empty()) return;
  sink(absl::StrFormat("%11s %11s %11s %11s  %-30s  %s\n", "SFRAME", "EH_FRAME", "DEBUG_FRAME", "FP", "MODULE",
                       "WALKS ENDED EARLY"));
  const size_t shown = std::min(limit, modules.size());
  for (size_t i = 0; i < shown; ++i) {
    for (const FrameSource source : kShown) {
      sink(absl::StrFormat("%11d ", modules[i].frames[static_cast<size_t>(source)]));
    }
    const std::string ends = EarlyEnds(modules[i]);
    const std::string path = PathOf(modules[i]);
    sink(ends.empty() ? absl::StrCat(" ", path, "\n") : absl::StrFormat(" %-30s  %s\n", path, ends));
  }
  if (shown < modules.size()) sink(absl::StrCat("not shown: ", modules.size() - shown, "\n"));
}

}  // namespace offcpu

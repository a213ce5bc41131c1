#include "labels/coverage.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>

#include "absl/container/flat_hash_map.h"

namespace offcpu {
namespace {

using Coverage = absl::flat_hash_map<const CodeObject*, ModuleCoverage>;

void Count(const NamedUserStack& stack, uint64_t intervals, Coverage& coverage) {
  for (size_t i = 0; i + 1 < stack.frames.size(); ++i) {
    if (stack.frames[i].is_marker() || stack.frames[i + 1].is_marker()) continue;
    coverage[stack.frames[i].code].frames[static_cast<size_t>(stack.frames[i + 1].source)] += intervals;
  }
  coverage[stack.frames.back().code].ends[static_cast<size_t>(stack.end)] += intervals;
}

}  // namespace

uint64_t ModuleCoverage::total_frames() const { return std::accumulate(frames.begin(), frames.end(), uint64_t{0}); }

uint64_t ModuleCoverage::early_ends() const {
  return std::accumulate(ends.begin(), ends.end(), uint64_t{0}) - ends[static_cast<size_t>(EndReason::kComplete)];
}

std::vector<ModuleCoverage> CoverageOf(const NamedProfile& profile) {
  Coverage coverage;
  for (const ProfileRow& row : profile.rows) {
    const NamedUserStack& user = profile.user_stacks[row.user_stack];
    if (!user.frames.empty()) Count(user, row.count, coverage);
  }
  std::vector<ModuleCoverage> modules;
  for (auto& [code, counts] : coverage) {
    counts.code = code;
    modules.push_back(counts);
  }
  static const std::string kNoPath;
  const auto path = [](const ModuleCoverage& m) -> const std::string& {
    return m.code == nullptr ? kNoPath : m.code->path;
  };
  std::sort(modules.begin(), modules.end(), [&](const ModuleCoverage& a, const ModuleCoverage& b) {
    return std::forward_as_tuple(b.early_ends(), b.total_frames(), path(a)) <
           std::forward_as_tuple(a.early_ends(), a.total_frames(), path(b));
  });
  return modules;
}

}  // namespace offcpu

#include "classify/idle.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "absl/container/flat_hash_map.h"

namespace offcpu {

std::vector<IdleSum> SumIdle(const NamedProfile& profile) {
  std::vector<IdleSum> sums;
  absl::flat_hash_map<std::string_view, size_t> index;
  for (const NamedRow& row : profile.rows) {
    if (!IsIdle(row)) continue;
    const auto [it, inserted] = index.try_emplace(row.idle, sums.size());
    if (inserted) sums.push_back({.name = std::string(row.idle)});
    sums[it->second].count += row.count;
    sums[it->second].blocked_ns += row.blocked_ns;
    sums[it->second].blocked_variance += row.blocked_variance;
    sums[it->second].sampled += row.sampled;
    if (row.kind != WaitKind::kOpen) sums[it->second].ended_ns += row.blocked_ns;
  }
  std::sort(sums.begin(), sums.end(), [](const IdleSum& a, const IdleSum& b) {
    return std::tie(b.blocked_ns, a.name) < std::tie(a.blocked_ns, b.name);
  });
  return sums;
}

IdleSum TotalOf(const std::vector<IdleSum>& sums) {
  IdleSum total;
  for (const IdleSum& sum : sums) {
    total.count += sum.count;
    total.blocked_ns += sum.blocked_ns;
    total.ended_ns += sum.ended_ns;
    total.blocked_variance += sum.blocked_variance;
    total.sampled += sum.sampled;
  }
  return total;
}

ShownRows::ShownRows(const NamedProfile& profile, bool hide_idle)
    : all_(profile.rows), sums_(SumIdle(profile)), is_less_(hide_idle && !sums_.empty()) {
  if (!is_less_) return;
  for (const NamedRow& row : all_) {
    if (IsIdle(row) && row.runnable_ns == 0) continue;
    NamedRow& rest = rest_.emplace_back(row);
    if (!IsIdle(row)) continue;
    rest.count = rest.blocked_ns = rest.max_ns = 0;
    rest.count_variance = rest.blocked_variance = 0;
    rest.ns_variance = rest.runnable_variance;
    rest.idle = "";
  }
}

}  // namespace offcpu

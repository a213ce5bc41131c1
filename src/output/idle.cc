#include "output/idle.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "output/units.h"
#include "output/utf8.h"

namespace offcpu {
bool IsIdle(const SymbolizedProfile& symbols, size_t row) {
  return row < symbols.idle.size() && !symbols.idle[row].empty();
}

std::vector<IdleSum> SumIdle(const Profile& profile, const SymbolizedProfile& symbols) {
  std::vector<IdleSum> sums;
  absl::flat_hash_map<std::string_view, size_t> index;
  for (size_t i = 0; i < profile.rows.size(); ++i) {
    if (!IsIdle(symbols, i)) continue;
    const auto [it, inserted] = index.try_emplace(symbols.idle[i], sums.size());
    if (inserted) sums.push_back({.name = std::string(symbols.idle[i])});
    sums[it->second].count += profile.rows[i].count;
    sums[it->second].blocked_ns += profile.rows[i].blocked_ns;
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
  }
  return total;
}

Profile WithoutIdle(const Profile& profile, const SymbolizedProfile& symbols) {
  Profile rest = profile;
  rest.rows.clear();
  for (size_t i = 0; i < profile.rows.size(); ++i) {
    ProfileRow row = profile.rows[i];
    if (IsIdle(symbols, i)) {
      if (row.runnable_ns == 0) continue;
      row.count = row.blocked_ns = row.max_ns = 0;
      row.count_variance = 0;
    }
    rest.rows.push_back(row);
  }
  return rest;
}

std::string IdleLine(const std::vector<IdleSum>& sums) {
  if (sums.empty()) return "";
  const IdleSum total = TotalOf(sums);
  return absl::StrCat("waiting for work: ", total.count, " waits, ", FormatDuration(total.blocked_ns),
                      ", hidden; --idle=show shows them\n");
}

void WriteIdleTable(const std::vector<IdleSum>& sums, bool hidden, ByteSink sink) {
  if (sums.empty()) return;
  const IdleSum total = TotalOf(sums);
  sink(absl::StrFormat("waiting for work, %s: %d waits, %s\n", hidden ? "hidden" : "shown", total.count,
                       FormatDuration(total.blocked_ns)));
  for (const IdleSum& sum : sums) {
    sink(absl::StrFormat("  %-48s %10d  %s\n", Printable(sum.name), sum.count, FormatDuration(sum.blocked_ns)));
  }
}

}  // namespace offcpu

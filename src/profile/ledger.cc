#include "profile/ledger.h"

#include <numeric>

#include "profile/losses.h"

namespace offcpu {

std::string_view Name(LostTime loss) { return InfoOf(loss).name; }

uint64_t LedgerEntry::lost_total_ns() const { return std::accumulate(lost_ns.begin(), lost_ns.end(), uint64_t{0}); }

int64_t LedgerEntry::rest_ns() const {
  return static_cast<int64_t>(wall_ns - on_cpu_ns - stolen_ns - blocked_ns - runnable_ns - lost_total_ns());
}

void AddTimes(const LedgerEntry& from, LedgerEntry& to) {
  to.wall_ns += from.wall_ns;
  to.on_cpu_ns += from.on_cpu_ns;
  to.stolen_ns += from.stolen_ns;
  to.blocked_ns += from.blocked_ns;
  to.runnable_ns += from.runnable_ns;
  for (size_t i = 0; i < to.lost_ns.size(); ++i) to.lost_ns[i] += from.lost_ns[i];
}

}  // namespace offcpu

#include "tables/idle_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bytes/units.h"
#include "bytes/utf8.h"

namespace offcpu {

std::string IdleLines(const std::vector<IdleSum>& sums, uint64_t off_cpu_ns) {
  if (sums.empty()) return "";
  const IdleSum total = TotalOf(sums);
  return absl::StrCat("waiting for work: ", total.count, " waits, ", FormatDuration(total.blocked_ns),
                      ", hidden; --idle=show shows them\n  they are ", FormatPercent(total.blocked_ns, off_cpu_ns),
                      " of the time off a CPU; shares are of the rest, ",
                      FormatDuration(off_cpu_ns - std::min(off_cpu_ns, total.blocked_ns)), "\n");
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

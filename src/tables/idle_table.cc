#include "tables/idle_table.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bytes/units.h"
#include "bytes/utf8.h"

namespace offcpu {

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

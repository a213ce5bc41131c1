#include "tables/idle_table.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bytes/units.h"
#include "bytes/utf8.h"
#include "labels/row_error.h"

namespace offcpu {
namespace {

std::string TimeText(const IdleSum& sum) {
  const RowSums sums = {.blocked_ns = sum.blocked_ns, .blocked_variance = sum.blocked_variance, .sampled = sum.sampled};
  return WithError(FormatDuration(sum.blocked_ns), sums, RowValue::kBlocked);
}

}  // namespace

std::string IdleLine(const std::vector<IdleSum>& sums) {
  if (sums.empty()) return "";
  const IdleSum total = TotalOf(sums);
  return absl::StrCat("waiting for work: ", total.count, " waits, ", TimeText(total),
                      ", hidden; --idle=show shows them\n");
}

void WriteIdleTable(const std::vector<IdleSum>& sums, bool hidden, ByteSink sink) {
  if (sums.empty()) return;
  const IdleSum total = TotalOf(sums);
  sink(absl::StrFormat("waiting for work, %s: %d waits, %s\n", hidden ? "hidden" : "shown", total.count,
                       TimeText(total)));
  for (const IdleSum& sum : sums) {
    sink(absl::StrFormat("  %-48s %10d  %s\n", Printable(sum.name), sum.count, TimeText(sum)));
  }
}

}  // namespace offcpu

#include "labels/sum_limits.h"

#include <string>

#include "labels/profile_counters.h"
#include "profile/profile_row.h"

namespace offcpu {

void SumLimits::AddTo(Kind kind, uint64_t amount) {
  uint64_t& sum = sums_[kind];
  fits_ = fits_ && amount <= kMostSum - sum;
  if (fits_) sum += amount;
}

bool SumLimits::Add(const NamedProfile& profile) {
  for (const RowSums& row : profile.rows) {
    for (const uint64_t ns : {row.blocked_ns, row.runnable_ns, row.cpu_ns}) AddTo(kRowNs, ns);
    for (const uint64_t events : {row.count, row.samples}) AddTo(kEvents, events);
  }
  for (const Loss& loss : profile.stats.losses) {
    AddTo(kLossNs, loss.ns);
    AddTo(kLossCounts, loss.count);
  }
  for (const LedgerEntry& entry : profile.ledger) {
    AddTo(kLedgerLives, entry.wall_ns);
    for (const uint64_t ns : {entry.on_cpu_ns, entry.stolen_ns, entry.blocked_ns, entry.runnable_ns})
      AddTo(kLedgerParts, ns);
    for (const uint64_t ns : entry.lost_ns) AddTo(kLedgerParts, ns);
  }
  VisitCounters(profile.stats, [this](const std::string&, const auto& counters, const auto&... names) {
    if constexpr (sizeof...(names) == 0) {
      AddTo(kRest, counters);
    } else {
      for (const uint64_t counter : counters) AddTo(kRest, counter);
    }
  });
  AddTo(kRest, profile.duration_ns);
  // When it ended is a sum, too.
  fits_ = fits_ && profile.start_unix_ns <= kMostSum - sums_[kRest];
  return fits_;
}

}  // namespace offcpu

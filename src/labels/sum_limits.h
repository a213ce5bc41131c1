// Whether what recordings hold can be added up: no sum that anything makes of them may be more than 2^63 - 1, which is
// 292 years of nanoseconds, all that pprof and OTLP can say, and half of what begins again at 0. Recordings are read
// from files, which may say anything. Plain state.
#ifndef OFFCPU_LABELS_SUM_LIMITS_H_
#define OFFCPU_LABELS_SUM_LIMITS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "profile/named_profile.h"

namespace offcpu {

class SumLimits {
 public:
  // False if it cannot be added to those that were added before; none can from then on.
  bool Add(const NamedProfile& profile);

 private:
  // Sums are made within one of them, or of two: those still do not begin again.
  enum Kind : size_t { kRowNs, kEvents, kLossNs, kLossCounts, kLedgerLives, kLedgerParts, kRest, kKinds };

  void AddTo(Kind kind, uint64_t amount);

  std::array<uint64_t, kKinds> sums_ = {};
  bool fits_ = true;
};

}  // namespace offcpu

#endif  // OFFCPU_LABELS_SUM_LIMITS_H_

// How long threads that could run waited for a CPU: how many waits were so long, by length, and their time. Waits that
// were sampled into a sample count as what they stand for. A plain value.
#ifndef OFFCPU_PROFILE_RUN_QUEUE_WAITS_H_
#define OFFCPU_PROFILE_RUN_QUEUE_WAITS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "profile/profile_row.h"

namespace offcpu {

// A bucket has what is at most so long, and longer than the one before; one more bucket has what is longer than all.
inline constexpr std::array<uint64_t, 13> kRunQueueBoundsNs = {
    10'000,    50'000,     100'000,    250'000,    500'000,     1'000'000,  2'500'000,
    5'000'000, 10'000'000, 25'000'000, 50'000'000, 100'000'000, 500'000'000};

struct RunQueueWaits {
  std::array<double, kRunQueueBoundsNs.size() + 1> counts = {};
  uint64_t ns = 0;

  // One wait that is over. `sums` are those of all of it, and so have its weight.
  void Add(uint64_t runnable_ns, const RowSums& sums) {
    const auto bound = std::lower_bound(kRunQueueBoundsNs.begin(), kRunQueueBoundsNs.end(), runnable_ns);
    counts[static_cast<size_t>(bound - kRunQueueBoundsNs.begin())] +=
        static_cast<double>(sums.count) + sums.count_excess;
    ns += sums.runnable_ns;
  }
  void Add(const RunQueueWaits& other) {
    for (size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    ns += other.ns;
  }
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_RUN_QUEUE_WAITS_H_

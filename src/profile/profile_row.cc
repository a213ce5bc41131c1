#include "profile/profile_row.h"

#include <algorithm>

namespace offcpu {
namespace {

// An interval of length t that was sampled with probability p = t / T stands for 1 / p intervals of its length, which
// take T. The estimates of the variances are those of Horvitz and Thompson for independent samples: (1 - p) / p^2 times
// the square of what each adds, which is 1, or t.
//
// A part of it of length a is in the sample exactly if the whole is, so it stands for a / p, which is a on average, and
// adds a to the square. What was seen of a wait before it ended has no weight: that it was seen does not depend on the
// choice, which is made at its end, and so the rest of it is right on average with the weight of the whole.
void Weigh(uint64_t length_ns, uint64_t sample_ns, RowSums* sums) {
  if (length_ns == 0 || length_ns >= sample_ns) return;
  const double probability = static_cast<double>(length_ns) / static_cast<double>(sample_ns);
  const double weighed_ns = static_cast<double>(sums->total_ns()) / probability;
  const double blocked_ns = static_cast<double>(sums->blocked_ns) / probability;
  sums->blocked_ns = static_cast<uint64_t>(std::llround(blocked_ns));
  sums->runnable_ns = static_cast<uint64_t>(std::llround(weighed_ns)) - sums->blocked_ns;
  sums->count_excess = 1 / probability - 1;
  sums->count_variance = (1 - probability) / (probability * probability);
  sums->ns_variance = (1 - probability) * weighed_ns * weighed_ns;
  sums->blocked_variance = (1 - probability) * blocked_ns * blocked_ns;
  sums->runnable_variance = (1 - probability) * (weighed_ns - blocked_ns) * (weighed_ns - blocked_ns);
  sums->sampled = 1;
}

}  // namespace

uint64_t Rounded(double amount) { return amount < 0x1p63 ? static_cast<uint64_t>(std::llround(amount)) : kMostSum; }

RowSums RowSums::OfWait(uint64_t blocked_ns, uint64_t runnable_ns, uint64_t whole_ns, uint64_t sample_ns) {
  const uint64_t part_ns = blocked_ns + runnable_ns;
  RowSums sums = {.count = 1, .blocked_ns = blocked_ns, .runnable_ns = runnable_ns, .max_ns = part_ns};
  Weigh(whole_ns != 0 ? whole_ns : part_ns, sample_ns, &sums);
  return sums;
}

RowSums RowSums::OfSample(uint64_t cpu_ns) { return {.samples = 1, .cpu_ns = cpu_ns}; }

void RowSums::Add(const RowSums& other) {
  count += other.count;
  blocked_ns += other.blocked_ns;
  runnable_ns += other.runnable_ns;
  max_ns = std::max(max_ns, other.max_ns);
  count_excess += other.count_excess;
  count_variance += other.count_variance;
  ns_variance += other.ns_variance;
  blocked_variance += other.blocked_variance;
  runnable_variance += other.runnable_variance;
  sampled += other.sampled;
  samples += other.samples;
  cpu_ns += other.cpu_ns;
}

}  // namespace offcpu

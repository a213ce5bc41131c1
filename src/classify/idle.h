// Waits for work, as the rows of a profile say, apart from all others: how much they are by pattern, and the rows
// without them. Where nothing is marked, they are none. Pure functions.
#ifndef OFFCPU_CLASSIFY_IDLE_H_
#define OFFCPU_CLASSIFY_IDLE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/named_profile.h"

namespace offcpu {

// The waits of one pattern, and how long they were until they were over. From there on the thread has work.
struct IdleSum {
  std::string name;
  uint64_t count = 0;
  uint64_t blocked_ns = 0;
  uint64_t ended_ns = 0;        // of it, of waits that did not outlast the recording
  double blocked_variance = 0;  // as RowSums
  uint64_t sampled = 0;

  bool operator==(const IdleSum&) const = default;
};

// Is the wait of this row marked?
inline bool IsIdle(const NamedRow& row) { return !row.idle.empty(); }

// The sums of those patterns that match, the longest time first.
std::vector<IdleSum> SumIdle(const NamedProfile& profile);
IdleSum TotalOf(const std::vector<IdleSum>& sums);

// The rows of a profile, which must outlive this; or with `hide_idle` what is left of them when those sums are taken
// out: counts and times add up to the profile's. A thread that has been woken to work and waits for a CPU still has its
// row, with that time alone, a count of 0 and no longest wait.
class ShownRows {
 public:
  ShownRows(const NamedProfile& profile, bool hide_idle);

  std::span<const NamedRow> rows() const { return is_less_ ? rest_ : all_; }
  const std::vector<IdleSum>& sums() const { return sums_; }
  bool is_less() const { return is_less_; }

 private:
  const std::vector<NamedRow>& all_;
  const std::vector<IdleSum> sums_;
  const bool is_less_;
  std::vector<NamedRow> rest_;  // empty if nothing is left out
};

}  // namespace offcpu

#endif  // OFFCPU_CLASSIFY_IDLE_H_

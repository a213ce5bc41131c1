// Which of a row's figures an output shows and sorts by. Pure functions.
#ifndef OFFCPU_LABELS_ROW_VALUE_H_
#define OFFCPU_LABELS_ROW_VALUE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "profile/named_profile.h"

namespace offcpu {

enum class RowValue {
  kOffCpu,
  kBlocked,
  kRunnable,
  kCount,
  kCpu,      // on one, by samples
  kSamples,  // how many
  kWall,     // off the CPU and on it
};

// "off_cpu", "blocked", "runnable", "count", "cpu", "samples" or "wall".
absl::StatusOr<RowValue> ParseRowValue(const std::string& name);

// What is shown unless another one is asked for: all there is.
RowValue DefaultValue(const ProfileFacts& profile);

bool IsTime(RowValue value);
uint64_t ValueOf(const RowSums& sums, RowValue value);
uint64_t Total(const NamedProfile& profile, RowValue value);

// For a reader: a length of time, or "12 times".
std::string FormatValue(uint64_t amount, RowValue value);

}  // namespace offcpu

#endif  // OFFCPU_LABELS_ROW_VALUE_H_

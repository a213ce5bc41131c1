// What of a profile OTLP requests say, as a user chooses it by name. Pure functions.
//
// Values are profiles of their own. Only sums are among them: back ends add up whatever they are given, so the longest
// wait and standard errors are in none.
//
//   off_cpu       time off the CPU
//   cpu           samples on the CPU, where they were taken
//   contentions   how many intervals
//   blocked       time off the CPU until the thread was woken
//   runnable      and from then on
//   recording     how long it was, with its counters
//   lost          what was lost, by reason
//
// Labels are the attributes in which samples differ. Each set of them costs a back end an index of its own, so few are
// in the default: what runs, and whether it waits for work. Beside the names of row_labels.h:
//
//   phase         off_cpu is two samples, "blocked" and "runnable"; of these, only the first may be idle: who was woken
//                 waits to work
//   user_end, no_user_stack, no_kernel_stack, waker   as the labels of pprof
#ifndef OFFCPU_OTLP_OTLP_CHOICE_H_
#define OFFCPU_OTLP_OTLP_CHOICE_H_

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "labels/row_labels.h"
#include "otlp/otlp_profiles.h"

namespace offcpu {

inline constexpr std::array<std::string_view, 2> kDefaultOtlpTypes = {"off_cpu", "cpu"};
inline constexpr std::array<std::string_view, 6> kDefaultOtlpLabels = {"exe",  "container", "pod",
                                                                       "unit", "phase",     "idle"};

using OtlpTypes = std::bitset<kOtlpTypeCount>;

// Beside those of rows.
enum class OtlpLabel : uint8_t { kPhase, kUserEnd, kNoUserStack, kNoKernelStack, kWaker };
inline constexpr size_t kOtlpLabelCount = static_cast<size_t>(OtlpLabel::kWaker) + 1;

struct OtlpLabels {
  std::bitset<kRowLabelCount> of_row;
  std::bitset<kOtlpLabelCount> other;

  bool Has(RowLabel label) const { return of_row[static_cast<size_t>(label)]; }
  bool Has(OtlpLabel label) const { return other[static_cast<size_t>(label)]; }
  bool operator==(const OtlpLabels&) const = default;
};

// InvalidArgument that lists the names there are.
absl::StatusOr<OtlpTypes> ParseOtlpTypes(const std::vector<std::string>& names);
absl::StatusOr<OtlpLabels> ParseOtlpLabels(const std::vector<std::string>& names);

OtlpTypes DefaultOtlpTypes();
OtlpLabels DefaultOtlpLabels();

}  // namespace offcpu

#endif  // OFFCPU_OTLP_OTLP_CHOICE_H_

// The figures of a row. This is the one list of them: pprof, JSON and who shows and sorts by one of them go through it.
// What is not added up (the longest wait, standard errors) is not among them. Pure functions.
#ifndef OFFCPU_LABELS_ROW_VALUE_H_
#define OFFCPU_LABELS_ROW_VALUE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "profile/named_profile.h"

namespace offcpu {

enum class RowValue : uint8_t { kCount, kOffCpu, kBlocked, kRunnable, kSamples, kCpu, kWall };
inline constexpr size_t kRowValueCount = static_cast<size_t>(RowValue::kWall) + 1;

struct RowValueInfo {
  RowValue value = {};
  std::string_view name;  // as users ask for it
  std::string_view type;  // in pprof
  bool is_time = true;
  std::string_view key = {};         // in JSON, which leaves out what is made of others
  uint64_t RowSums::*sum = nullptr;  // null: it is made of others

  std::string_view unit() const { return is_time ? "nanoseconds" : "count"; }
};

// In the order of a sample of pprof.
inline constexpr std::array<RowValueInfo, kRowValueCount> kRowValues = {{
    {RowValue::kCount, "count", "contentions", false, "count", &RowSums::count},
    {RowValue::kOffCpu, "off_cpu", "off_cpu"},
    {RowValue::kBlocked, "blocked", "blocked", true, "blocked_ns", &RowSums::blocked_ns},
    {RowValue::kRunnable, "runnable", "runnable", true, "runnable_ns", &RowSums::runnable_ns},
    {RowValue::kSamples, "samples", "samples", false, "samples", &RowSums::samples},
    {RowValue::kCpu, "cpu", "cpu", true, "cpu_ns", &RowSums::cpu_ns},  // on one, by samples
    {RowValue::kWall, "wall", "wall"},                                 // off the CPU and on it
}};

static_assert([] {
  for (size_t i = 0; i < kRowValueCount; ++i) {
    if (static_cast<size_t>(kRowValues[i].value) != i) return false;
  }
  return true;
}());

constexpr const RowValueInfo& InfoOf(RowValue value) { return kRowValues[static_cast<size_t>(value)]; }

// Those that a recording has: those from kSamples on only if it has samples of what ran.
constexpr std::span<const RowValueInfo> RowValues(bool with_samples) {
  return std::span(kRowValues).first(with_samples ? kRowValueCount : static_cast<size_t>(RowValue::kSamples));
}

std::vector<std::string> RowValueNames(bool with_samples);

// By its name; InvalidArgument that lists the names there are.
absl::StatusOr<RowValue> ParseRowValue(const std::string& name);

// What is shown unless another one is asked for: all there is.
RowValue DefaultValue(const ProfileFacts& profile);

bool IsTime(RowValue value);
uint64_t ValueOf(const RowSums& sums, RowValue value);
uint64_t Total(std::span<const NamedRow> rows, RowValue value);

// For a reader: a length of time, or "12 times".
std::string FormatValue(uint64_t amount, RowValue value);

}  // namespace offcpu

#endif  // OFFCPU_LABELS_ROW_VALUE_H_

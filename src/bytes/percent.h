// A part of a whole as a person writes it, in percent: "1%", "0.5%". In parts per million.
#ifndef OFFCPU_BYTES_PERCENT_H_
#define OFFCPU_BYTES_PERCENT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace offcpu {

// From "0.0001%", which is 1, to "100%", which is 1,000,000; to the nearest.
absl::StatusOr<uint64_t> ParsePercent(const std::string& text);

// As ParsePercent reads it.
std::string PercentText(uint64_t ppm);

// That part of `whole`.
double PartOf(double whole, uint64_t ppm);

}  // namespace offcpu

#endif  // OFFCPU_BYTES_PERCENT_H_

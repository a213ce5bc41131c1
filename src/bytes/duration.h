// Reads a length of time as a person writes it: a number and a unit, as "50us", "1.5ms", "2s", "1m"; "0" needs no unit.
// units.h writes one.
#ifndef OFFCPU_BYTES_DURATION_H_
#define OFFCPU_BYTES_DURATION_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace offcpu {

// In nanoseconds. `default_unit` is that of a number without one; empty: it must have one.
absl::StatusOr<uint64_t> ParseDuration(const std::string& text, const std::string& default_unit = "");

}  // namespace offcpu

#endif  // OFFCPU_BYTES_DURATION_H_

// A point in time as a person writes it, and as it is written for one:
//   10m                                  so long ago, as duration.h reads it
//   14:05, 14:05:30                      the last time that the clock showed that: today's or yesterday's
//   2026-01-31, 2026-01-31T14:05         a date, from its beginning, or a time of that day; a space does for the T
//   ...T14:05Z, ...T14:05:30+01:00       of another place; without Z or an offset it is the local time
// Pure functions but for the default of the zone, which is that of TZ or of the host.
#ifndef OFFCPU_BYTES_MOMENT_H_
#define OFFCPU_BYTES_MOMENT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace offcpu {

// As unix time, at least 1. InvalidArgument, with what may be written, if it is none of these.
absl::StatusOr<uint64_t> ParseMoment(const std::string& text, uint64_t now_unix_ns,
                                     absl::TimeZone zone = absl::LocalTimeZone());

// "2026-01-31 14:05:30", in local time.
std::string FormatMoment(uint64_t unix_ns, absl::TimeZone zone = absl::LocalTimeZone());

}  // namespace offcpu

#endif  // OFFCPU_BYTES_MOMENT_H_

// Numbers and lengths of time as a person reads them; duration.h reads what a person writes. Pure functions.
#ifndef OFFCPU_BYTES_UNITS_H_
#define OFFCPU_BYTES_UNITS_H_

#include <cstdint>
#include <string>

namespace offcpu {

// Three digits and a unit: "0 ns", "1.23 us", "45.6 ms", "789 s". More digits only for 1000 s and above.
std::string FormatDuration(uint64_t ns);

// "12.3 %"; of nothing, "0.0 %".
std::string FormatPercent(uint64_t part, uint64_t whole);

}  // namespace offcpu

#endif  // OFFCPU_BYTES_UNITS_H_

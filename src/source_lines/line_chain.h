// The functions that an address lies in, and the places in their sources. Plain data; the views point into what the
// chain was read from.
#ifndef OFFCPU_SOURCE_LINES_LINE_CHAIN_H_
#define OFFCPU_SOURCE_LINES_LINE_CHAIN_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace offcpu {

struct SourceLine {
  std::string_view function;  // as linkers know it, else as its source has it; "": only the place is known
  std::string_view file;      // as the compiler has recorded it; "": not known
  uint32_t line = 0;          // 0: not known, as of all numbers here
  uint32_t column = 0;
  uint32_t start_line = 0;  // where the function begins in `file`

  bool operator==(const SourceLine&) const = default;
};

// Innermost first: each was inlined into the next. Empty: nothing is known of the address.
using LineChain = std::vector<SourceLine>;

inline constexpr size_t kMaxInlined = 100;  // functions of a chain; one with more is left out

}  // namespace offcpu

#endif  // OFFCPU_SOURCE_LINES_LINE_CHAIN_H_

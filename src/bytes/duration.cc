#include "bytes/duration.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

struct DurationUnit {
  const char* name;
  double ns;
};
constexpr DurationUnit kDurationUnits[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
constexpr double kMaxNs = 1e18;  // 31 years

}  // namespace

absl::StatusOr<uint64_t> ParseDuration(const std::string& text, const std::string& default_unit) {
  const size_t digits = text.find_first_not_of("0123456789.");
  const std::string number = text.substr(0, digits);
  std::string unit = digits == std::string::npos ? default_unit : text.substr(digits);
  double value = 0;
  if (absl::SimpleAtod(number, &value) && std::isfinite(value) && value >= 0) {
    if (value == 0 && unit.empty()) return 0;
    for (const DurationUnit& known : kDurationUnits) {
      if (unit == known.name && value * known.ns <= kMaxNs)
        return static_cast<uint64_t>(std::llround(value * known.ns));
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is not a length of time: write a number with ns, us, ms, s, m or h"));
}

}  // namespace offcpu

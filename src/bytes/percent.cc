#include "bytes/percent.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

constexpr double kPpmPerPercent = 1e4;
constexpr double kMostPercent = 100;

}  // namespace

absl::StatusOr<uint64_t> ParsePercent(const std::string& text) {
  const size_t digits = text.find_first_not_of("0123456789.");
  double percent = 0;
  if (digits != std::string::npos && text.substr(digits) == "%" && absl::SimpleAtod(text.substr(0, digits), &percent) &&
      percent <= kMostPercent) {
    const auto ppm = static_cast<uint64_t>(std::llround(percent * kPpmPerPercent));
    if (ppm != 0) return ppm;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' is not a percentage: write \"1%\" or \"0.5%\", from 0.0001% to 100%"));
}

// Six digits, which is what StrCat writes, are enough.
std::string PercentText(uint64_t ppm) { return absl::StrCat(static_cast<double>(ppm) / kPpmPerPercent, "%"); }

double PartOf(double whole, uint64_t ppm) { return whole * static_cast<double>(ppm) / (kPpmPerPercent * kMostPercent); }

}  // namespace offcpu

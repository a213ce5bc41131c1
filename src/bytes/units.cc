#include "bytes/units.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace offcpu {
namespace {

struct TextUnit {
  double ns;
  const char* name;
};
constexpr std::array<TextUnit, 3> kTextUnits = {{{1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}};

}  // namespace

std::string FormatDuration(uint64_t ns) {
  if (ns < 1000) return absl::StrCat(ns, " ns");
  const TextUnit* unit = kTextUnits.begin();
  auto value = [&] { return static_cast<double>(ns) / unit->ns; };
  // The limits are where rounding would make a digit more.
  while (value() >= 999.5 && unit != &kTextUnits.back()) ++unit;
  int decimals = value() < 9.995 ? 2 : value() < 99.95 ? 1 : 0;
  return absl::StrFormat("%.*f %s", decimals, value(), unit->name);
}

std::string FormatPercent(uint64_t part, uint64_t whole) {
  double percent = whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
  return absl::StrFormat("%.1f %%", percent);
}

}  // namespace offcpu

#include "bytes/moment.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "bytes/duration.h"

namespace offcpu {
namespace {

constexpr int64_t kMaxUnixSeconds = 9'000'000'000;  // nanoseconds of it fit 63 bits

constexpr const char* kForms[] = {"%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%E*S", "%Y-%m-%dT%H:%M%Ez",
                                  "%Y-%m-%dT%H:%M:%E*S%Ez"};

// Parses a date, with or without a time of day.
std::optional<absl::Time> ParseDate(const std::string& text, absl::TimeZone zone) {
  for (const char* form : kForms) {
    absl::Time time;
    if (absl::ParseTime(form, text, zone, &time, nullptr)) return time;
  }
  return std::nullopt;
}

std::optional<absl::Time> ParseClock(const std::string& text, absl::Time now, absl::TimeZone zone) {
  if (text.find_first_not_of("0123456789:.") != std::string::npos) return std::nullopt;  // a zone has days of its own
  const absl::CivilDay today = absl::ToCivilDay(now, zone);
  for (const absl::CivilDay day : {today, today - 1}) {
    const std::optional<absl::Time> time = ParseDate(absl::StrCat(absl::FormatCivilTime(day), "T", text), zone);
    if (!time.has_value() || *time <= now) return time;
  }
  return std::nullopt;
}

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

absl::StatusOr<uint64_t> ParseMoment(const std::string& text, uint64_t now_unix_ns, absl::TimeZone zone) {
  const bool is_date = text.find('-') != std::string::npos;
  if (!is_date && text.find(':') == std::string::npos) {
    const absl::StatusOr<uint64_t> ago_ns = ParseDuration(text);
    if (ago_ns.ok()) return std::max<uint64_t>(now_unix_ns, *ago_ns + 1) - *ago_ns;
  } else if (IsDigit(text.front()) && !std::isspace(static_cast<unsigned char>(text.back()))) {
    std::string joined = text;
    std::replace(joined.begin(), joined.end(), ' ', 'T');
    const absl::Time now = absl::FromUnixNanos(static_cast<int64_t>(now_unix_ns));
    const std::optional<absl::Time> time = is_date ? ParseDate(joined, zone) : ParseClock(joined, now, zone);
    if (time.has_value() && *time > absl::UnixEpoch() && *time < absl::FromUnixSeconds(kMaxUnixSeconds))
      return static_cast<uint64_t>(absl::ToUnixNanos(*time));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", text,
      "' is not a time: write how long ago (10m), a time of day (14:05), or a date (2026-01-31, 2026-01-31T14:05Z)"));
}

std::string FormatMoment(uint64_t unix_ns, absl::TimeZone zone) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S", absl::FromUnixNanos(static_cast<int64_t>(unix_ns)), zone);
}

}  // namespace offcpu

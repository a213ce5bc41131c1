#include "offcpu/time_flags.h"

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bytes/moment.h"

namespace offcpu {
namespace {

constexpr size_t kDateBytes = 10;  // "2026-01-31"

// 0 for none.
absl::StatusOr<uint64_t> MomentOf(const std::string& flag, const std::string& text, uint64_t now_unix_ns) {
  if (text.empty()) return 0;
  absl::StatusOr<uint64_t> moment = ParseMoment(text, now_unix_ns);
  if (moment.ok()) return moment;
  return absl::InvalidArgumentError(absl::StrCat(flag, ": ", std::string(moment.status().message())));
}

}  // namespace

void AddTimeFlags(const std::string& what, TimeFlags* values, std::vector<Flag>* flags) {
  flags->push_back(
      {"--since", &values->since,
       "Leave out " + what +
           " that ended before TIME: how long ago (10m), a time of day (14:05) or a date "
           "(2026-01-31,\n2026-01-31T14:05), in local time or with Z or an offset. All others are taken whole",
       "TIME"});
  flags->push_back({"--until", &values->until, "Leave out " + what + " that began at TIME or later", "TIME"});
}

absl::StatusOr<TimeSpan> SpanOf(const TimeFlags& flags, uint64_t now_unix_ns) {
  const absl::StatusOr<uint64_t> since = MomentOf("--since", flags.since, now_unix_ns);
  if (!since.ok()) return since.status();
  const absl::StatusOr<uint64_t> until = MomentOf("--until", flags.until, now_unix_ns);
  if (!until.ok()) return until.status();
  if (*until != 0 && *since >= *until) {
    return absl::InvalidArgumentError(
        absl::StrCat("--since must be before --until, ", FormatMoment(*until), ": it is ", FormatMoment(*since)));
  }
  return TimeSpan{.since_unix_ns = *since, .until_unix_ns = *until};
}

absl::StatusOr<TimeSpan> SpanOf(const TimeFlags& flags) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto now_unix_ns = static_cast<uint64_t>(std::chrono::nanoseconds(now).count());
  std::fputs(YesterdayText(flags, now_unix_ns).c_str(), stderr);
  return SpanOf(flags, now_unix_ns);
}

std::string YesterdayText(const TimeFlags& flags, uint64_t now_unix_ns) {
  const std::string today = FormatMoment(now_unix_ns).substr(0, kDateBytes);
  std::string text;
  for (const auto& [flag, value] : {std::pair("--since", &flags.since), std::pair("--until", &flags.until)}) {
    const bool is_time_of_day = value->find(':') != std::string::npos && value->find('-') == std::string::npos;
    const absl::StatusOr<uint64_t> moment = MomentOf(flag, *value, now_unix_ns);
    if (!is_time_of_day || !moment.ok() || FormatMoment(*moment).starts_with(today)) continue;
    absl::StrAppend(&text, "offcpu: ", flag, " ", *value, " is still to come today: taken as yesterday's, ",
                    FormatMoment(*moment), "\n");
  }
  return text;
}

TimeSpan SpanOf(const ProfileFacts& profile) {
  return {.since_unix_ns = profile.start_unix_ns,
          .until_unix_ns = profile.start_unix_ns + profile.duration_ns + profile.stats.suspended_ns};
}

std::string SpanText(const TimeSpan& span) {
  return absl::StrCat("from ", FormatMoment(span.since_unix_ns), " to ", FormatMoment(span.until_unix_ns));
}

}  // namespace offcpu

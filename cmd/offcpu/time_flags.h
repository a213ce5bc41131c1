// The flags about when: what they ask for, and what was taken for it. Windows and files are taken whole.
#ifndef OFFCPU_CMD_OFFCPU_TIME_FLAGS_H_
#define OFFCPU_CMD_OFFCPU_TIME_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "offcpu/flag.h"
#include "profile/profile.h"

namespace offcpu {

struct TimeFlags {
  std::string since;
  std::string until;
};

// Unix time; 0: from the beginning, to the end.
struct TimeSpan {
  uint64_t since_unix_ns = 0;
  uint64_t until_unix_ns = 0;

  bool is_all() const { return since_unix_ns == 0 && until_unix_ns == 0; }
  // Something of it is in the other one, which begins and ends. All time has that of no time, too: of no window.
  bool Has(const TimeSpan& other) const {
    return is_all() ||
           ((until_unix_ns == 0 || other.since_unix_ns < until_unix_ns) && other.until_unix_ns > since_unix_ns);
  }
};

// `what` is taken whole: "windows", "files".
void AddTimeFlags(const std::string& what, TimeFlags* values, std::vector<Flag>* flags);

// InvalidArgument for what is no time, or begins after its end.
absl::StatusOr<TimeSpan> SpanOf(const TimeFlags& flags, uint64_t now_unix_ns);
// The same, at this moment. Says on the standard error which day's time was taken, where it may be another one than was
// meant.
absl::StatusOr<TimeSpan> SpanOf(const TimeFlags& flags);

// What it says: a line for each time of day that has not come yet today, since it is taken for yesterday's.
std::string YesterdayText(const TimeFlags& flags, uint64_t now_unix_ns);

// When a profile was recorded, from its start to its end; and what people read of it, in local time.
TimeSpan SpanOf(const ProfileFacts& profile);
std::string SpanText(const TimeSpan& span);

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_TIME_FLAGS_H_

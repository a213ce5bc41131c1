#include "recorder/clocks.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "os/now.h"

namespace offcpu {
namespace {

// Clocks that are read one after another differ by what came between the readings. Nobody sets a clock by so little.
constexpr int64_t kApartNs = 10'000'000;

int64_t Difference(uint64_t a, uint64_t b) { return static_cast<int64_t>(a - b); }

// What `clock` has done beside another one, which has gone on by `other_ns`.
uint64_t GoneOn(uint64_t before, uint64_t now, uint64_t other_ns) {
  return std::abs(Difference(now - before, other_ns)) < kApartNs ? before + other_ns : now;
}

}  // namespace

Clocks ReadClocks() {
  constexpr int kTries = 8;
  constexpr uint64_t kAtOnceNs = 20'000;
  Clocks best;
  uint64_t best_ns = UINT64_MAX;
  for (int i = 0; i < kTries && best_ns > kAtOnceNs; ++i) {
    const uint64_t before = NowNs(CLOCK_MONOTONIC);
    const Clocks now = {.unix_ns = NowNs(CLOCK_REALTIME), .boot_ns = NowNs(CLOCK_BOOTTIME), .monotonic_ns = before};
    const uint64_t took_ns = NowNs(CLOCK_MONOTONIC) - before;
    if (took_ns >= best_ns) continue;
    best_ns = took_ns;
    best = now;
  }
  return best;
}

Clocks Before(Clocks now, uint64_t ns) {
  return {.unix_ns = now.unix_ns - ns, .boot_ns = now.boot_ns - ns, .monotonic_ns = now.monotonic_ns - ns};
}

Clocks Following(const Clocks& before, Clocks now) {
  now.boot_ns = GoneOn(before.boot_ns, now.boot_ns, now.monotonic_ns - before.monotonic_ns);
  now.unix_ns = GoneOn(before.unix_ns, now.unix_ns, now.boot_ns - before.boot_ns);
  return now;
}

Clocks AtLeastBehind(const Clocks& start, Clocks end, uint64_t ns) {
  const int64_t less_ns = Difference(ns, end.monotonic_ns - start.monotonic_ns);
  if (less_ns <= 0 || less_ns >= static_cast<int64_t>(kDriftNs)) return end;
  return Before(end, static_cast<uint64_t>(-less_ns));
}

void SetTimes(const Clocks& start, const Clocks& end, Profile& profile) {
  const uint64_t boot_ns = end.boot_ns - start.boot_ns;
  profile.start_unix_ns = start.unix_ns;
  profile.start_boot_ns = start.boot_ns;
  profile.duration_ns = end.monotonic_ns - start.monotonic_ns;
  profile.stats.suspended_ns = static_cast<uint64_t>(std::max<int64_t>(Difference(boot_ns, profile.duration_ns), 0));
  const int64_t step_ns = Difference(end.unix_ns - start.unix_ns, boot_ns);
  profile.stats.clock_forward_ns = static_cast<uint64_t>(std::max<int64_t>(step_ns, 0));
  profile.stats.clock_back_ns = static_cast<uint64_t>(std::max<int64_t>(-step_ns, 0));
}

uint64_t UnixTime::BootOf(uint64_t unix_ns) {
  return static_cast<uint64_t>(
      std::max<int64_t>(static_cast<int64_t>(std::min<uint64_t>(unix_ns, INT64_MAX)) - Offset(), 1));
}

uint64_t UnixTime::UnixOf(uint64_t boot_ns) { return boot_ns + static_cast<uint64_t>(Offset()); }

int64_t UnixTime::Offset() {
  const Clocks now = read_();
  const int64_t offset_ns = Difference(now.unix_ns, now.boot_ns);
  const std::lock_guard lock(mutex_);
  if (offset_ns_ == INT64_MIN || std::abs(offset_ns - offset_ns_) >= kApartNs) offset_ns_ = offset_ns;
  return offset_ns_;
}

// A line a clock: its name, seconds and nanoseconds.
absl::Status CheckTimeNamespace(std::string_view offsets) {
  std::istringstream lines{std::string(offsets)};
  std::string clock;
  int64_t seconds = 0;
  int64_t ns = 0;
  while (lines >> clock >> seconds >> ns) {
    if (seconds == 0 && ns == 0) continue;
    return absl::FailedPreconditionError(absl::StrCat("this process is in a time namespace: ", clock, " is ", seconds,
                                                      " s off the kernel's clock; run it in the host's time namespace, "
                                                      "for example with nsenter --time=/proc/1/ns/time"));
  }
  return absl::OkStatus();
}

absl::Status CheckTimeNamespace() {
  std::ifstream file("/proc/self/timens_offsets");
  return CheckTimeNamespace(std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace offcpu

// The three clocks that say when windows were. CLOCK_BOOTTIME never goes back and counts while the host is suspended:
// windows are found by it. CLOCK_MONOTONIC stands still meanwhile: what is recorded is as long as it says.
// CLOCK_REALTIME is what people ask in, and can be set, so it is never reckoned with across a moment at which that may
// have happened.
#ifndef OFFCPU_RECORDER_CLOCKS_H_
#define OFFCPU_RECORDER_CLOCKS_H_

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "profile/profile.h"

namespace offcpu {

// At one moment.
struct Clocks {
  uint64_t unix_ns = 0;  // CLOCK_REALTIME
  uint64_t boot_ns = 0;
  uint64_t monotonic_ns = 0;
};
Clocks ReadClocks();

// What they said so long ago: nobody has set one meanwhile.
Clocks Before(Clocks now, uint64_t ns);

// `now` without what came between the readings of its clocks: as long as nobody sets one and the host is not suspended,
// all of them have gone on as far as CLOCK_MONOTONIC has since `before`.
Clocks Following(const Clocks& before, Clocks now);

// `end`, moved by as much as it is less than `ns` behind `start`: what is recorded in between is timed by the
// scheduler's clock, by which that took `ns`, and no thread's part of it is longer than it. As long as the clocks
// differ by readings only: where they have drifted apart by kDriftNs, `end` stays where it is.
inline constexpr uint64_t kDriftNs = 5'000'000;
Clocks AtLeastBehind(const Clocks& start, Clocks end, uint64_t ns);

// When it was, how long it took, and what happened to the clocks meanwhile. `end` follows `start`.
void SetTimes(const Clocks& start, const Clocks& end, Profile& profile);

// Between times as people have them now and CLOCK_BOOTTIME. There and back again is exact, unless the clock has been
// set between the two. Any thread.
class UnixTime {
 public:
  explicit UnixTime(std::function<Clocks()> read = ReadClocks) : read_(std::move(read)) {}

  uint64_t BootOf(uint64_t unix_ns);  // 1 if that was before the host was started
  uint64_t UnixOf(uint64_t boot_ns);
  uint64_t BootNow() { return read_().boot_ns; }

 private:
  int64_t Offset();

  const std::function<Clocks()> read_;
  std::mutex mutex_;
  int64_t offset_ns_ = INT64_MIN;  // CLOCK_REALTIME minus CLOCK_BOOTTIME; guarded by mutex_
};

// FailedPrecondition in a time namespace whose clocks are not the kernel's own, which are those that programs in the
// kernel read. `offsets` is what /proc/self/timens_offsets says.
absl::Status CheckTimeNamespace(std::string_view offsets);
absl::Status CheckTimeNamespace();

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_CLOCKS_H_

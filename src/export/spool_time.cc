#include "export/spool_time.h"

#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"
#include "os/now.h"
#include "os/proc_file.h"

namespace offcpu {
namespace {

// Half of a number that the kernel draws when it starts. 0 if it is not to be had: then no boot is known to be this
// one.
uint64_t ThisBoot() {
  constexpr size_t kMaxBytes = 64;
  uint64_t boot = 0;
  auto text = ReadProcFile("/proc/sys/kernel/random/boot_id", kMaxBytes);
  if (!text.ok()) return 0;
  text->erase(std::remove(text->begin(), text->end(), '-'), text->end());
  return absl::SimpleHexAtoi(text->substr(0, 2 * sizeof(boot)), &boot) ? boot : 0;
}

uint64_t Since(uint64_t then, uint64_t now) { return now > then ? now - then : 0; }

}  // namespace

SpoolTime SpoolTimeNow() {
  static const uint64_t boot = ThisBoot();
  return {.unix_ns = NowNs(CLOCK_REALTIME), .boot_ns = NowNs(CLOCK_BOOTTIME), .boot = boot};
}

uint64_t WaitedNs(const SpoolTime& appended, const SpoolTime& now, uint64_t first_ns) {
  if (appended.boot == now.boot && now.boot != 0) return Since(appended.boot_ns, now.boot_ns);
  const uint64_t seen_ns = Since(first_ns, now.boot_ns);
  if (seen_ns < kClockSettlesNs) return seen_ns;
  return std::max(seen_ns, Since(appended.unix_ns, now.unix_ns));
}

}  // namespace offcpu

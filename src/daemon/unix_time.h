// The time that windows and requests are told apart by.
#ifndef OFFCPU_DAEMON_UNIX_TIME_H_
#define OFFCPU_DAEMON_UNIX_TIME_H_

#include <chrono>
#include <cstdint>

namespace offcpu {

inline uint64_t NowUnixNs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::nanoseconds(now).count());
}

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_UNIX_TIME_H_

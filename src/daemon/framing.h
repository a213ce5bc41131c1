// Messages on a stream socket: each is its length, 4 bytes, little endian, and then its bytes. Blocking, with a
// deadline for the whole message, so that a peer that sends or takes a byte now and then does not hold anybody up.
#ifndef OFFCPU_DAEMON_FRAMING_H_
#define OFFCPU_DAEMON_FRAMING_H_

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace offcpu {

using Deadline = std::chrono::steady_clock::time_point;

// Unavailable if the peer has gone, DeadlineExceeded, or InvalidArgument for more than `max_bytes`.
absl::StatusOr<std::string> ReadFrame(int fd, size_t max_bytes, Deadline deadline);
absl::Status WriteFrame(int fd, std::string_view message, Deadline deadline);

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_FRAMING_H_

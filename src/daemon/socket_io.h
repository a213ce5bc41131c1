// Sends and receives on a stream socket, each with a deadline, so that a peer that takes a byte now and then does not
// hold anybody up. Needs a socket of any kind; never raises SIGPIPE. Any thread.
#ifndef OFFCPU_DAEMON_SOCKET_IO_H_
#define OFFCPU_DAEMON_SOCKET_IO_H_

#include <chrono>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace offcpu {

using Deadline = std::chrono::steady_clock::time_point;

// Unavailable if the peer has gone, DeadlineExceeded if not all bytes were taken in time.
absl::Status SendAll(int fd, std::string_view bytes, Deadline deadline);

// What comes next, a piece; empty if the peer has sent all. Fails as SendAll does.
absl::StatusOr<std::string> ReceivePiece(int fd, Deadline deadline);

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_SOCKET_IO_H_

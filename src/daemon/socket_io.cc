#include "daemon/socket_io.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>

namespace offcpu {
namespace {

constexpr size_t kPieceBytes = 64u << 10;

// OK as soon as `events` are there; the peer's end counts as one.
absl::Status Await(int fd, short events, Deadline deadline) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return absl::DeadlineExceededError("timed out");
    pollfd socket = {.fd = fd, .events = events, .revents = 0};
    const int ready = poll(&socket, 1, static_cast<int>(std::min<int64_t>(left.count(), INT_MAX)));
    if (ready > 0) return absl::OkStatus();
    if (ready < 0 && errno != EINTR) return absl::UnavailableError(strerror(errno));
  }
}

bool IsRetry(ssize_t done) { return done < 0 && (errno == EAGAIN || errno == EINTR); }

}  // namespace

absl::Status SendAll(int fd, std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    if (absl::Status status = Await(fd, POLLOUT, deadline); !status.ok()) return status;
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (IsRetry(sent)) continue;
    if (sent < 0) return absl::UnavailableError(strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReceivePiece(int fd, Deadline deadline) {
  std::string piece(kPieceBytes, '\0');
  while (true) {
    if (absl::Status status = Await(fd, POLLIN, deadline); !status.ok()) return status;
    const ssize_t got = recv(fd, piece.data(), piece.size(), MSG_DONTWAIT);
    if (IsRetry(got)) continue;
    if (got < 0) return absl::UnavailableError(strerror(errno));
    piece.resize(static_cast<size_t>(got));
    return piece;
  }
}

}  // namespace offcpu

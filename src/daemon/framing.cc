#include "daemon/framing.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

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

absl::Status WriteAll(int fd, std::string_view bytes, Deadline deadline) {
  while (!bytes.empty()) {
    if (absl::Status status = Await(fd, POLLOUT, deadline); !status.ok()) return status;
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (IsRetry(sent)) continue;
    if (sent < 0) return absl::UnavailableError(strerror(errno));
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<bool> IncomingFrame::Read(int fd) {
  std::array<char, 16384> piece;
  while (true) {
    const absl::StatusOr<size_t> to_come = BytesToCome();
    if (!to_come.ok()) return to_come.status();
    if (*to_come == 0) return true;
    const ssize_t got = recv(fd, piece.data(), std::min(piece.size(), *to_come), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return false;
    if (got < 0) return absl::UnavailableError(strerror(errno));
    if (got == 0) return absl::UnavailableError("the connection was closed");
    bytes_.append(piece.data(), static_cast<size_t>(got));
  }
}

absl::StatusOr<size_t> IncomingFrame::BytesToCome() const {
  if (bytes_.size() < kHeadBytes) return kHeadBytes - bytes_.size();
  size_t size = 0;
  for (size_t i = 0; i < kHeadBytes; ++i) size |= size_t{static_cast<unsigned char>(bytes_[i])} << (8 * i);
  if (size <= max_bytes_) return kHeadBytes + size - bytes_.size();
  return absl::InvalidArgumentError(absl::StrCat("a message of ", size, " bytes; at most ", max_bytes_, " may come"));
}

absl::StatusOr<std::string> ReadFrame(int fd, size_t max_bytes, Deadline deadline) {
  IncomingFrame frame(max_bytes);
  while (true) {
    if (absl::Status status = Await(fd, POLLIN, deadline); !status.ok()) return status;
    const absl::StatusOr<bool> is_whole = frame.Read(fd);
    if (!is_whole.ok()) return is_whole.status();
    if (*is_whole) return std::string(frame.message());
  }
}

absl::Status WriteFrame(int fd, std::string_view message, Deadline deadline) {
  const auto size = static_cast<uint32_t>(message.size());
  std::array<char, 4> head;
  for (size_t i = 0; i < head.size(); ++i) head[i] = static_cast<char>(size >> (8 * i) & 0xff);
  absl::Status status = WriteAll(fd, {head.data(), head.size()}, deadline);
  return status.ok() ? WriteAll(fd, message, deadline) : status;
}

}  // namespace offcpu

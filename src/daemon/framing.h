// Messages on a stream socket: each is its length, 4 bytes, little endian, and then its bytes. Blocking, with a
// deadline for the whole message, so that a peer that sends or takes a byte now and then does not hold anybody up; or
// piece by piece, for a caller that waits for many peers at once.
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

// A message that is read as its bytes come. Holds what has come, whatever length the peer says.
class IncomingFrame {
 public:
  explicit IncomingFrame(size_t max_bytes) : max_bytes_(max_bytes) {}

  // Takes what is there now, without waiting, and nothing behind the message. True: the message is whole. Unavailable
  // if the peer has gone, InvalidArgument for more than `max_bytes`.
  absl::StatusOr<bool> Read(int fd);
  bool has_begun() const { return !bytes_.empty(); }
  // The message, once it is whole.
  std::string_view message() const { return std::string_view(bytes_).substr(kHeadBytes); }

 private:
  static constexpr size_t kHeadBytes = 4;

  // How many bytes are still to come, as far as is known; the length of the message comes first.
  absl::StatusOr<size_t> BytesToCome() const;

  size_t max_bytes_;
  std::string bytes_;  // with the length
};

// Unavailable if the peer has gone, DeadlineExceeded, or InvalidArgument for more than `max_bytes`.
absl::StatusOr<std::string> ReadFrame(int fd, size_t max_bytes, Deadline deadline);
absl::Status WriteFrame(int fd, std::string_view message, Deadline deadline);

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_FRAMING_H_

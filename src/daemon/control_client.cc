#include "daemon/control_client.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "daemon/framing.h"
#include "process/owned_fd.h"

namespace offcpu {
namespace {

constexpr size_t kMaxReplyBytes = 16u << 20;

absl::StatusOr<OwnedFd> Connect(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path))
    return absl::InvalidArgumentError(absl::StrCat(path, ": too long for the path of a socket"));
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  OwnedFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  if (errno == ENOENT || errno == ECONNREFUSED)
    return absl::UnavailableError(absl::StrCat("no offcpud answers at ", path, ": is the service running?"));
  const std::string message = absl::StrCat("cannot ask at ", path, ": ", strerror(errno));
  if (errno != EACCES && errno != EPERM) return absl::UnavailableError(message);
  return absl::PermissionDeniedError(absl::StrCat(message, "; root and members of the service's group may"));
}

}  // namespace

absl::Status Ask(const std::string& path, std::string_view request, std::chrono::seconds timeout,
                 absl::FunctionRef<bool(const std::string& reply)> take) {
  const absl::StatusOr<OwnedFd> fd = Connect(path);
  if (!fd.ok()) return fd.status();
  const auto deadline = [timeout] { return std::chrono::steady_clock::now() + timeout; };
  // One that is refused may find the socket closed before all of the request is sent: the reply says why.
  const absl::Status sent = WriteFrame(fd->get(), request, deadline());
  // systemd ends the connections of those who have asked a service that does not start.
  const char* hint = ": it ended before it answered; its log says why";
  while (true) {
    const absl::StatusOr<std::string> reply = ReadFrame(fd->get(), kMaxReplyBytes, deadline());
    if (!reply.ok()) {
      const absl::Status& status = sent.ok() ? reply.status() : sent;
      return absl::Status(status.code(), absl::StrCat("offcpud at ", path, ": ", std::string(status.message()),
                                                      status.code() == absl::StatusCode::kUnavailable ? hint : ""));
    }
    hint = "";
    if (!take(*reply)) return absl::OkStatus();
  }
}

}  // namespace offcpu

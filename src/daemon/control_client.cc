#include "daemon/control_client.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "daemon/http_request.h"
#include "daemon/http_response.h"
#include "daemon/socket_io.h"
#include "os/owned_fd.h"

namespace offcpu {
namespace {

constexpr size_t kMaxAnswerBytes = 256u << 20;

absl::StatusOr<OwnedFd> Connect(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path))
    return absl::InvalidArgumentError(absl::StrCat(path, ": too long for a socket path"));
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  OwnedFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  if (errno == ENOENT || errno == ECONNREFUSED)
    return absl::UnavailableError(absl::StrCat("no offcpud answers at ", path, ": is the service running?"));
  const std::string message = absl::StrCat("cannot connect to ", path, ": ", strerror(errno));
  if (errno != EACCES && errno != EPERM) return absl::UnavailableError(message);
  return absl::PermissionDeniedError(absl::StrCat(message, "; root and members of the service's group may"));
}

// The number in a field of an answer, as HttpHeadOf writes it.
std::optional<size_t> NumberIn(std::string_view head, const char* field) {
  const std::string before = absl::StrCat("\r\n", field, ": ");
  const size_t at = head.find(before);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = head.substr(at + before.size());
  size_t number = 0;
  return absl::SimpleAtoi(std::string(rest.substr(0, rest.find('\r'))), &number) ? std::optional(number) : std::nullopt;
}

struct Received {
  std::string head;
  std::string body;
};

absl::StatusOr<Received> Receive(int fd, std::chrono::seconds timeout) {
  constexpr std::string_view kStart = "HTTP/1.1 ";
  std::string bytes;
  std::optional<size_t> size;  // of all, once the head is there
  size_t head = 0;
  while (!size.has_value() || bytes.size() < *size) {
    const absl::StatusOr<std::string> piece = ReceivePiece(fd, std::chrono::steady_clock::now() + timeout);
    if (absl::IsUnavailable(piece.status()) || (piece.ok() && piece->empty())) {
      // systemd ends the connections of those who have asked a service that does not start.
      return absl::UnavailableError(bytes.empty() ? "it ended before it answered; see its log"
                                                  : "it ended in the middle of its answer");
    }
    if (!piece.ok()) return piece.status();
    bytes += *piece;
    if (!bytes.starts_with(kStart.substr(0, bytes.size())))
      return absl::UnimplementedError("the service is older than this offcpu: restart it");
    head = HttpHeadLength(bytes);
    const std::string_view known = std::string_view(bytes).substr(0, head);
    if (head != 0) size = head + std::min(NumberIn(known, "Content-Length").value_or(0), kMaxAnswerBytes);
    if (std::max(bytes.size(), size.value_or(0)) > kMaxAnswerBytes)
      return absl::ResourceExhaustedError("the answer is too large");
  }
  return Received{bytes.substr(0, head), bytes.substr(head, *size - head)};
}

}  // namespace

absl::StatusOr<std::string> Ask(const std::string& path, const std::string& target, std::chrono::seconds timeout) {
  const absl::StatusOr<OwnedFd> fd = Connect(path);
  if (!fd.ok()) return fd.status();
  const std::string request = absl::StrCat("GET ", target, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  // A client that is refused may find the socket closed before it has sent all: the answer says why.
  SendAll(fd->get(), request, std::chrono::steady_clock::now() + timeout).IgnoreError();
  absl::StatusOr<Received> answer = Receive(fd->get(), timeout);
  if (!answer.ok())
    return absl::Status(answer.status().code(),
                        absl::StrCat("offcpud at ", path, ": ", std::string(answer.status().message())));
  if (answer->head.starts_with("HTTP/1.1 200 ")) return std::move(answer->body);
  const auto code = static_cast<absl::StatusCode>(NumberIn(answer->head, kCodeField).value_or(0));
  return absl::Status(code == absl::StatusCode::kOk ? absl::StatusCode::kUnknown : code,
                      absl::StrCat("offcpud refused: ", absl::StripSuffix(answer->body, "\n")));
}

}  // namespace offcpu

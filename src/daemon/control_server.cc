#include "daemon/control_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "process/start_thread.h"

namespace offcpu {
namespace {

constexpr int kControlBacklog = 128;
constexpr int kNoticePeriodMs = 100;  // after which the end of a connection is seen, where all places are taken

sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  return address;
}

absl::Status Errno(const std::string& what) {
  const std::string message = absl::StrCat(what, ": ", strerror(errno));
  return errno == EACCES || errno == EPERM ? absl::PermissionDeniedError(message) : absl::UnavailableError(message);
}

bool SomebodyListens(const sockaddr_un& address) {
  const OwnedFd probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 || errno == EAGAIN;
}

// Groups of the process at the other end, as they were when it connected.
std::vector<gid_t> GroupsOf(int fd, const ucred& peer) {
  std::vector<gid_t> groups(65536);  // as many as a process may have
  auto bytes = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &bytes) != 0) bytes = 0;
  groups.resize(bytes / sizeof(gid_t));
  groups.push_back(peer.gid);
  return groups;
}

// Whoever has only said all that he has to say waits for an answer.
bool HasGone(int fd) {
  pollfd socket = {.fd = fd, .events = 0, .revents = 0};
  return poll(&socket, 1, 0) > 0 && (socket.revents & (POLLHUP | POLLERR)) != 0;
}

}  // namespace

absl::StatusOr<OwnedFd> ListenAt(const std::string& path, std::optional<gid_t> group) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);  // bind tells
  const sockaddr_un address = AddressOf(path);
  struct stat existing = {};
  if (lstat(path.c_str(), &existing) == 0 && S_ISSOCK(existing.st_mode)) {
    if (SomebodyListens(address))
      return absl::AlreadyExistsError(absl::StrCat(path, ": another service listens there"));
    unlink(path.c_str());
  }
  OwnedFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return Errno("cannot make a socket");
  // Nobody else may connect before the group is set.
  const mode_t mask = umask(0177);
  const int bound = bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  umask(mask);
  if (bound != 0) return Errno(absl::StrCat("cannot bind ", path));
  if (group.has_value()) {
    if (chown(path.c_str(), static_cast<uid_t>(-1), *group) != 0 || chmod(path.c_str(), 0660) != 0)
      return Errno(absl::StrCat("cannot give ", path, " to its group"));
  }
  if (listen(fd.get(), kControlBacklog) != 0) return Errno(absl::StrCat("cannot listen at ", path));
  return fd;
}

absl::Status CheckPeer(int fd, std::optional<gid_t> group) {
  ucred peer = {};
  socklen_t size = sizeof(peer);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return Errno("cannot tell who asks");
  if (peer.uid == 0 || peer.uid == geteuid()) return absl::OkStatus();
  const std::vector<gid_t> groups = GroupsOf(fd, peer);
  if (group.has_value() && std::find(groups.begin(), groups.end(), *group) != groups.end()) return absl::OkStatus();
  return absl::PermissionDeniedError(
      absl::StrCat("user ", peer.uid, " may not ask: only root and members of the service's group may"));
}

ControlServer::ControlServer(OwnedFd listener, const ControlLimits& limits, AnswerRequest answer,
                             FormatError format_error)
    : listener_(std::move(listener)),
      stop_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      answer_(std::move(answer)),
      format_error_(std::move(format_error)),
      limits_(limits) {
  fcntl(listener_.get(), F_SETFL, O_NONBLOCK);  // who gave up in the meantime is not waited for
}

absl::StatusOr<std::unique_ptr<ControlServer>> ControlServer::Start(OwnedFd listener, const ControlLimits& limits,
                                                                    AnswerRequest answer, FormatError format_error) {
  std::unique_ptr<ControlServer> server(
      new ControlServer(std::move(listener), limits, std::move(answer), std::move(format_error)));
  absl::StatusOr<std::thread> thread = StartThread("control", [self = server.get()] { self->AcceptLoop(); });
  if (!thread.ok()) return thread.status();
  server->thread_ = *std::move(thread);
  return server;
}

ControlServer::~ControlServer() {
  stopping_ = true;
  eventfd_write(stop_event_.get(), 1);
  if (thread_.joinable()) thread_.join();
  for (const Connection& connection : connections_) shutdown(connection.socket.get(), SHUT_RDWR);
  Reap(true);
}

void ControlServer::SetLimits(const ControlLimits& limits) {
  const std::lock_guard lock(mutex_);
  limits_ = limits;
}

void ControlServer::AcceptLoop() {
  while (true) {
    ControlLimits limits;
    {
      const std::lock_guard lock(mutex_);
      limits = limits_;
    }
    Reap(false);
    const bool is_full = connections_.size() >= std::min(limits.clients, kMaxClients);
    std::array<pollfd, 2> events = {{{.fd = stop_event_.get(), .events = POLLIN, .revents = 0},
                                     {.fd = listener_.get(), .events = POLLIN, .revents = 0}}};
    const int timeout_ms = connections_.empty() ? -1 : kNoticePeriodMs;
    if (poll(events.data(), is_full ? 1 : 2, timeout_ms) < 0 && errno != EINTR) return;
    if (events[0].revents != 0) return;
    if (is_full || events[1].revents == 0) continue;
    OwnedFd socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) {
      // Out of descriptors, say: the client waits on, and so do we.
      if (errno != EAGAIN) poll(events.data(), 1, kNoticePeriodMs);
      continue;
    }
    Begin(std::move(socket), limits);
  }
}

void ControlServer::Begin(OwnedFd socket, const ControlLimits& limits) {
  Connection& connection = connections_.emplace_back();
  connection.socket = std::move(socket);
  absl::StatusOr<std::thread> thread = StartThread("control-client", [this, &connection, limits] {
    Serve(connection.socket.get(), limits);
    shutdown(connection.socket.get(), SHUT_RDWR);
    connection.done = true;
  });
  if (thread.ok()) {
    connection.thread = *std::move(thread);
    return;
  }
  // There is room for it in the socket's buffer.
  const auto at_once = std::chrono::steady_clock::now() + std::chrono::milliseconds(kNoticePeriodMs);
  WriteFrame(connection.socket.get(), format_error_(thread.status()), at_once).IgnoreError();
  connections_.pop_back();
}

void ControlServer::Serve(int fd, const ControlLimits& limits) {
  const auto deadline = [&] { return std::chrono::steady_clock::now() + limits.timeout; };
  absl::Status status = CheckPeer(fd, limits.group);
  std::string request;
  if (status.ok()) {
    absl::StatusOr<std::string> read = ReadFrame(fd, kMaxRequestBytes, deadline());
    status = read.status();
    if (read.ok()) request = *std::move(read);
  }
  if (!status.ok()) {
    WriteFrame(fd, format_error_(status), deadline()).IgnoreError();
    return;
  }
  absl::Status failed;
  std::optional<Deadline> end;  // of the answer, from its first message on
  const auto send = [&](std::string_view message) {
    if (!failed.ok()) return failed;
    if (!end.has_value()) end = deadline();
    failed = WriteFrame(fd, message, *end);
    return failed;
  };
  answer_(request, send, [this, fd] { return stopping_ || HasGone(fd); });
}

void ControlServer::Reap(bool all) {
  for (auto connection = connections_.begin(); connection != connections_.end();) {
    if (!all && !connection->done) {
      ++connection;
      continue;
    }
    connection->thread.join();
    connection = connections_.erase(connection);
  }
}

}  // namespace offcpu

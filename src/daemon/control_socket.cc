#include "daemon/control_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

constexpr int kControlBacklog = 128;

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
  if (!fd) return Errno("cannot create a socket");
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

bool IsOurs(uid_t uid) { return uid == 0 || uid == geteuid(); }

absl::StatusOr<uid_t> CheckPeer(int fd, std::optional<gid_t> group) {
  ucred peer = {};
  socklen_t size = sizeof(peer);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return Errno("cannot find out who is asking");
  if (IsOurs(peer.uid)) return peer.uid;
  const std::vector<gid_t> groups = GroupsOf(fd, peer);
  if (group.has_value() && std::find(groups.begin(), groups.end(), *group) != groups.end()) return peer.uid;
  return absl::PermissionDeniedError(
      absl::StrCat("user ", peer.uid, " may not ask: only root and members of the service's group may"));
}

}  // namespace offcpu

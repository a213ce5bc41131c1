// The socket that the service is asked over, and who may ask there.
//
// Threads: any; ListenAt where no other thread makes files, because it changes the umask for a moment.
#ifndef OFFCPU_DAEMON_CONTROL_SOCKET_H_
#define OFFCPU_DAEMON_CONTROL_SOCKET_H_

#include <sys/types.h>

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "os/owned_fd.h"

namespace offcpu {

// A listening socket at `path` that `group` may use, in place of one that nobody listens at. Makes its directory.
// AlreadyExists if another service listens there.
absl::StatusOr<OwnedFd> ListenAt(const std::string& path, std::optional<gid_t> group);

// Root, or the user that the service runs as.
bool IsOurs(uid_t uid);

// The user of the process at the other end. PermissionDenied if it is not ours and no member of `group`.
absl::StatusOr<uid_t> CheckPeer(int fd, std::optional<gid_t> group);

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_CONTROL_SOCKET_H_

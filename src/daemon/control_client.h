// The other end of the control socket, for the command line: one request, one connection. Blocking.
#ifndef OFFCPU_DAEMON_CONTROL_CLIENT_H_
#define OFFCPU_DAEMON_CONTROL_CLIENT_H_

#include <chrono>
#include <string>

#include "absl/status/statusor.h"

namespace offcpu {

// Not inside the runtime directory of the service, which systemd takes away with it.
inline constexpr char kControlSocketPath[] = "/run/offcpu/control.sock";

// What the service at `path` answers to a GET of `target`, "/status?json=1". Unavailable if no service listens there,
// PermissionDenied if the user may not connect, Unimplemented if the service is one that speaks no HTTP; else what the
// service refuses it with. `timeout` is for sending, and for each piece of the answer.
absl::StatusOr<std::string> Ask(const std::string& path, const std::string& target, std::chrono::seconds timeout);

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_CONTROL_CLIENT_H_

// The other end of the control socket, for the command line: one call, one connection. Blocking. Messages are those of
// proto/control.proto, serialized, so that who calls needs its header and nobody else does.
#ifndef OFFCPU_DAEMON_CONTROL_CLIENT_H_
#define OFFCPU_DAEMON_CONTROL_CLIENT_H_

#include <chrono>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace offcpu {

// Not inside the runtime directory of the service, which systemd takes away with it.
inline constexpr char kControlSocketPath[] = "/run/offcpu/control.sock";

// Sends the request, and gives each reply to `take` until it returns false. Unavailable if no service listens at
// `path`, PermissionDenied if the user may not connect. `timeout` is for each message.
absl::Status Ask(const std::string& path, std::string_view request, std::chrono::seconds timeout,
                 absl::FunctionRef<bool(const std::string& reply)> take);

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_CONTROL_CLIENT_H_

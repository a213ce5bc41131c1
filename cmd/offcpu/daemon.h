// Asks the service, over its control socket. What it refuses comes back as the status that it was refused with.
#ifndef OFFCPU_CMD_OFFCPU_DAEMON_H_
#define OFFCPU_CMD_OFFCPU_DAEMON_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "offcpu/flag.h"

namespace offcpu {

namespace control {
class Reply;
class Request;
}  // namespace control

// --socket, whose default it sets.
Flag SocketFlag(std::string* path);

// Gives each reply to `take` until it returns false.
absl::Status AskDaemon(const std::string& path, control::Request request,
                       absl::FunctionRef<bool(const control::Reply& reply)> take);

// All chunks of the answer together.
absl::StatusOr<std::string> AskDaemonForBytes(const std::string& path, const control::Request& request);

// Whether what the service did not do, because it is not there, may not be asked, or cannot, might be done without it.
bool IsWorthDoingWithout(const absl::Status& service);
// What went wrong without the service. Where more rights would help, what went wrong with it is said as well.
absl::Status WithoutDaemon(const absl::Status& here, const absl::Status& service);

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_DAEMON_H_

// Asks the service, over its control socket. What it refuses comes back as the status that it was refused with.
#ifndef OFFCPU_CMD_OFFCPU_DAEMON_H_
#define OFFCPU_CMD_OFFCPU_DAEMON_H_

#include <string>

#include "CLI/CLI.hpp"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace offcpu {

namespace control {
class Reply;
class Request;
}  // namespace control

void AddSocketFlag(CLI::App& app, std::string* path);

// Gives each reply to `take` until it returns false.
absl::Status AskDaemon(const std::string& path, control::Request request,
                       absl::FunctionRef<bool(const control::Reply& reply)> take);

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_DAEMON_H_

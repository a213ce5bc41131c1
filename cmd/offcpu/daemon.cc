#include "offcpu/daemon.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "daemon/control_client.h"
#include "proto/control.pb.h"

namespace offcpu {
namespace {

constexpr uint32_t kVersion = 1;
constexpr std::chrono::seconds kPatience(90);  // the service gives up earlier

}  // namespace

Flag SocketFlag(std::string* path) {
  *path = kControlSocketPath;
  return {"--socket", path, "Where the service listens", "PATH", {.shows_default = true}};
}

absl::Status AskDaemon(const std::string& path, control::Request request,
                       absl::FunctionRef<bool(const control::Reply& reply)> take) {
  request.set_version(kVersion);
  absl::Status refused;
  const absl::Status status = Ask(path, request.SerializeAsString(), kPatience, [&](const std::string& message) {
    control::Reply reply;
    if (!reply.ParseFromString(message)) {
      refused = absl::DataLossError(absl::StrCat("offcpud at ", path, " answers what is no answer"));
    } else if (reply.has_error()) {
      const auto code = static_cast<absl::StatusCode>(reply.error().code());
      refused = absl::Status(code, absl::StrCat("offcpud refuses: ", reply.error().message()));
    } else {
      return take(reply);
    }
    return false;
  });
  return status.ok() ? refused : status;
}

absl::StatusOr<std::string> AskDaemonForBytes(const std::string& path, const control::Request& request) {
  std::string bytes;
  bool is_whole = false;
  absl::Status status = AskDaemon(path, request, [&](const control::Reply& reply) {
    bytes += reply.chunk().data();
    is_whole = reply.chunk().last();
    return reply.has_chunk() && !is_whole;
  });
  if (status.ok() && !is_whole)
    status = absl::DataLossError(absl::StrCat("offcpud at ", path, " answers something else"));
  if (!status.ok()) return status;
  return bytes;
}

bool IsWorthDoingWithout(const absl::Status& service) {
  return absl::IsUnavailable(service) || absl::IsPermissionDenied(service) || absl::IsUnimplemented(service);
}

absl::Status WithoutDaemon(const absl::Status& here, const absl::Status& service) {
  if (!absl::IsPermissionDenied(here) && !absl::IsFailedPrecondition(here)) return here;
  return absl::Status(here.code(), absl::StrCat(std::string(here.message()),
                                                "; the service was asked first: ", std::string(service.message())));
}

}  // namespace offcpu

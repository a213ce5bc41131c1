#include "offcpu/daemon.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "daemon/control_client.h"
#include "daemon/http_request.h"

namespace offcpu {
namespace {

constexpr std::chrono::seconds kPatience(90);  // the service gives up earlier

}  // namespace

Flag SocketFlag(std::string* path) {
  *path = kControlSocketPath;
  return {"--socket", path, "The socket of the service", "PATH", {.shows_default = true}};
}

absl::StatusOr<std::string> AskDaemon(const std::string& path, const std::string& target) {
  return Ask(path, target, kPatience);
}

std::string DumpTarget(const DumpWanted& wanted) {
  std::string target = absl::StrCat("/dump?since_ns=", wanted.since_unix_ns, "&until_ns=", wanted.until_unix_ns);
  for (const int pid : wanted.pids) absl::StrAppend(&target, "&pid=", pid);
  for (const std::string& comm : wanted.comms) absl::StrAppend(&target, "&comm=", PercentEncoded(comm));
  return target;
}

bool IsWorthDoingWithout(const absl::Status& service) {
  return absl::IsUnavailable(service) || absl::IsPermissionDenied(service) || absl::IsUnimplemented(service);
}

absl::Status WithoutDaemon(const absl::Status& here, const absl::Status& service) {
  if (!absl::IsPermissionDenied(here) && !absl::IsFailedPrecondition(here)) return here;
  return absl::Status(here.code(), absl::StrCat(std::string(here.message()),
                                                "; asking the service failed, too: ", std::string(service.message())));
}

}  // namespace offcpu

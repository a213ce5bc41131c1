// Asks the service, over its control socket. What it refuses comes back as the status that it was refused with.
#ifndef OFFCPU_CMD_OFFCPU_DAEMON_H_
#define OFFCPU_CMD_OFFCPU_DAEMON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "offcpu/flag.h"

namespace offcpu {

// --socket, whose default it sets.
Flag SocketFlag(std::string* path);

// What the service answers to a GET of `target`; src/daemon/requests.h has what there is.
absl::StatusOr<std::string> AskDaemon(const std::string& path, const std::string& target);

struct DumpWanted {
  uint64_t since_unix_ns = 0;  // 0: from the oldest window, to now
  uint64_t until_unix_ns = 0;
  std::vector<int> pids;  // none: of all, as with the next one
  std::vector<std::string> comms;
};
std::string DumpTarget(const DumpWanted& wanted);

// Whether what the service did not do, because it is not there, may not be asked, or cannot, might be done without it.
bool IsWorthDoingWithout(const absl::Status& service);
// What went wrong without the service. Where more rights would help, what went wrong with it is said as well.
absl::Status WithoutDaemon(const absl::Status& here, const absl::Status& service);

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_DAEMON_H_

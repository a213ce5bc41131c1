// What the texts of a configuration may say, each by itself: InvalidArgument with what is wrong, without the key's
// name. Pure functions.
#ifndef OFFCPU_DAEMON_CONFIG_CHECKS_H_
#define OFFCPU_DAEMON_CONFIG_CHECKS_H_

#include <string>

#include "absl/status/status.h"

namespace offcpu {

absl::Status CheckGlob(const std::string& value);
absl::Status CheckNotEmpty(const std::string& value);
absl::Status CheckSocket(const std::string& value);
absl::Status CheckListen(const std::string& value);
absl::Status CheckLevel(const std::string& value);
absl::Status CheckDirectory(const std::string& value);
absl::Status CheckFile(const std::string& value);
absl::Status CheckFileOrNone(const std::string& value);
absl::Status CheckCompression(const std::string& value);
absl::Status CheckPair(const std::string& value);

// Can only the host itself reach this address, which CheckListen has allowed?
bool IsLoopback(const std::string& listen);

}  // namespace offcpu

#endif  // OFFCPU_DAEMON_CONFIG_CHECKS_H_

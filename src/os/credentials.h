// Which user a process is to files: its ids for file systems, and what a file's mode grants them. Pure functions; safe
// from any thread. Capabilities, access control lists and security modules are not asked: with an access control list
// the mode still says what all others may do at most, and root's files are judged by no more.
#ifndef OFFCPU_OS_CREDENTIALS_H_
#define OFFCPU_OS_CREDENTIALS_H_

#include <sys/stat.h>
#include <sys/types.h>

#include <optional>
#include <string_view>
#include <vector>

namespace offcpu {

struct Credentials {
  uid_t uid = 0;  // as the host's first user namespace counts
  gid_t gid = 0;
  std::vector<gid_t> groups;

  bool operator==(const Credentials&) const = default;
};

// What /proc/PID/status says; nothing if it does not.
std::optional<Credentials> ParseCredentials(std::string_view status);

bool MayRead(const Credentials& who, const struct stat& file);
bool MaySearch(const Credentials& who, const struct stat& directory);

}  // namespace offcpu

#endif  // OFFCPU_OS_CREDENTIALS_H_

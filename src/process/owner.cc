#include "process/owner.h"

#include <cstdio>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "os/proc_file.h"

namespace offcpu {

uid_t OwnerOf(pid_t pid) {
  constexpr size_t kMaxBytes = 64 << 10;
  const absl::StatusOr<std::string> status = ReadProcFile(absl::StrCat("/proc/", pid, "/status"), kMaxBytes);
  if (!status.ok()) return kNoOwner;
  const size_t line = status->find("\nUid:");  // a process may name itself anything, but for a line's end
  unsigned real = 0;
  if (line == std::string::npos || std::sscanf(status->c_str() + line + 5, "%u", &real) != 1) return kNoOwner;
  return real;
}

}  // namespace offcpu

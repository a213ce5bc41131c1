#include "os/proc_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "os/owned_fd.h"

namespace offcpu {

absl::StatusOr<std::string> ReadProcFile(const std::string& path, size_t max_bytes) {
  OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  std::string text;
  std::array<char, 16 << 10> chunk;  // not cleared: most files are far shorter
  for (;;) {
    const ssize_t n = read(fd.get(), chunk.data(), std::min(chunk.size(), max_bytes + 1 - text.size()));
    if (n < 0 && errno == EINTR) continue;
    // A process that is gone answers ESRCH, which absl does not take for NotFound.
    if (n < 0 && errno == ESRCH) return absl::NotFoundError(absl::StrCat(path, ": no such process"));
    if (n < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
    if (n == 0) return text;
    text.append(chunk.data(), static_cast<size_t>(n));
    if (text.size() > max_bytes) return absl::ResourceExhaustedError(absl::StrCat(path, " is too long"));
  }
}

}  // namespace offcpu

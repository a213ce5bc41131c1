#include "process/proc_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "process/owned_fd.h"

namespace offcpu {

absl::StatusOr<std::string> ReadProcFile(const std::string& path, size_t max_bytes) {
  OwnedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  std::string text;
  for (;;) {
    constexpr size_t kStep = 64 << 10;
    size_t size = text.size();
    text.resize(std::min(size + kStep, max_bytes + 1));
    ssize_t n = read(fd.get(), text.data() + size, text.size() - size);
    if (n < 0 && errno == EINTR) {
      text.resize(size);
      continue;
    }
    // A process that is gone answers ESRCH, which absl does not take for NotFound.
    if (n < 0 && errno == ESRCH) return absl::NotFoundError(absl::StrCat(path, ": no such process"));
    if (n < 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
    text.resize(size + static_cast<size_t>(n));
    if (n == 0) return text;
    if (text.size() > max_bytes) return absl::ResourceExhaustedError(absl::StrCat(path, " is too long"));
  }
}

}  // namespace offcpu

#include "os/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "absl/strings/str_cat.h"

namespace offcpu {

OwnedFd OpenRegularFile(const OwnedFd& path) {
  struct stat st;
  if (!path || fstat(path.get(), &st) != 0 || !S_ISREG(st.st_mode)) return OwnedFd();
  return OwnedFd(
      open(absl::StrCat("/proc/self/fd/", path.get()).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
}

}  // namespace offcpu

#include "bytes/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "os/owned_fd.h"
#include "os/regular_file.h"

namespace offcpu {
namespace {

absl::Status CannotRead(const std::string& path) {
  const int error = errno;
  const std::string reader = error == EACCES || error == EPERM ? absl::StrCat(" by user ", geteuid()) : "";
  return absl::Status(absl::ErrnoToStatusCode(error),
                      absl::StrCat(path, " cannot be read", reader, ": ", strerror(error)));
}

const char* KindOf(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
  }
}

absl::Status TooLarge(const std::string& path, size_t max_bytes) {
  const std::string most =
      max_bytes >> 20 != 0 ? absl::StrCat(max_bytes >> 20, " MiB") : absl::StrCat(max_bytes, " bytes");
  return absl::ResourceExhaustedError(absl::StrCat(path, " is larger than ", most, ": this must be the wrong file"));
}

}  // namespace

absl::StatusOr<std::string> ReadRegularFile(const std::string& path, size_t max_bytes) {
  const OwnedFd name(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat st;
  if (!name || fstat(name.get(), &st) != 0) return CannotRead(path);
  if (!S_ISREG(st.st_mode))
    return absl::InvalidArgumentError(absl::StrCat(path, " is ", KindOf(st.st_mode), ": must be a regular file"));
  if (st.st_size > 0 && static_cast<uint64_t>(st.st_size) > max_bytes) return TooLarge(path, max_bytes);
  const OwnedFd fd = OpenRegularFile(name);
  if (!fd) return CannotRead(path);
  std::string bytes;
  std::array<char, 1 << 16> piece;
  while (true) {
    const ssize_t n = read(fd.get(), piece.data(), std::min(piece.size(), max_bytes + 1 - bytes.size()));
    if (n == 0) return bytes;
    if (n < 0 && errno != EINTR) return CannotRead(path);
    if (n > 0) bytes.append(piece.data(), static_cast<size_t>(n));
    if (bytes.size() > max_bytes) return TooLarge(path, max_bytes);  // it grows, or says no size
  }
}

}  // namespace offcpu

#include "bytes/write_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "os/owned_fd.h"

namespace offcpu {
namespace {

constexpr size_t kBufferBytes = 64u << 10;
constexpr int kMaxNames = 100;

absl::Status Error(int error, const char* what, const std::string& path) {
  return absl::ErrnoToStatus(error, absl::StrCat(what, " ", path));
}

// Gathers small pieces into large writes. After the first error it takes what comes and does nothing.
class Writer {
 public:
  explicit Writer(int fd) : fd_(fd) {}

  void Append(std::string_view bytes) {
    buffer_ += bytes;
    if (buffer_.size() >= kBufferBytes) Flush();
  }

  // Zero, or the errno of the first error.
  int Flush() {
    if (error_ == 0) error_ = WriteAll(fd_, buffer_);
    buffer_.clear();
    return error_;
  }

 private:
  int fd_;
  std::string buffer_;
  int error_ = 0;
};

int WritePieces(int fd, absl::FunctionRef<void(ByteSink)> write) {
  Writer writer(fd);
  write([&](std::string_view bytes) { writer.Append(bytes); });
  return writer.Flush();
}

absl::Status WriteDirectly(const std::string& path, absl::FunctionRef<void(ByteSink)> write) {
  OwnedFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) return Error(errno, "cannot open", path);
  int error = WritePieces(fd.get(), write);
  return error == 0 ? absl::OkStatus() : Error(error, "cannot write", path);
}

// A file that was not there before, beside `path`.
OwnedFd CreateBeside(const std::string& path, std::string& name) {
  for (int i = 0; i < kMaxNames; ++i) {
    name = absl::StrCat(path, ".", getpid(), ".", i, ".tmp");
    OwnedFd fd(open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd || errno != EEXIST) return fd;
  }
  return OwnedFd();
}

// Closing can report what a write did not.
int CloseFd(OwnedFd& fd) { return close(fd.release()) == 0 || errno == EINTR ? 0 : errno; }

// `mode`: of the file that is replaced, or null.
absl::Status Replace(const std::string& path, const mode_t* mode, absl::FunctionRef<void(ByteSink)> write) {
  std::string temporary;
  OwnedFd fd = CreateBeside(path, temporary);
  if (!fd) return Error(errno, "cannot create a file beside", path);
  int error = mode == nullptr || fchmod(fd.get(), *mode & 07777) == 0 ? 0 : errno;
  if (error == 0) error = WritePieces(fd.get(), write);
  int close_error = CloseFd(fd);
  if (error == 0) error = close_error;
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return absl::OkStatus();
  unlink(temporary.c_str());
  return Error(error, "cannot write", path);
}

}  // namespace

int WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR) return errno;
    if (n > 0) bytes.remove_prefix(static_cast<size_t>(n));
  }
  return 0;
}

absl::Status WriteFile(const std::string& path, absl::FunctionRef<void(ByteSink)> write) {
  if (path == "-" || path == "/dev/stdout") {
    int error = WritePieces(STDOUT_FILENO, write);
    return error == 0 ? absl::OkStatus() : Error(error, "cannot write", "standard output");
  }
  struct stat st;
  if (stat(path.c_str(), &st) != 0) {
    if (errno != ENOENT) return Error(errno, "cannot open", path);
    return Replace(path, nullptr, write);
  }
  if (!S_ISREG(st.st_mode)) return WriteDirectly(path, write);
  // A symbolic link stays, and the file that it leads to is replaced.
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) == nullptr) return Error(errno, "cannot open", path);
  return Replace(resolved, &st.st_mode, write);
}

}  // namespace offcpu

#include "export/spool_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "bytes/write_file.h"

namespace offcpu {
namespace {

// Zero, or an errno.
int Sync(const OwnedFd& fd) { return fsync(fd.get()) == 0 ? 0 : errno; }

// A file that was not there before. What has its name is ours and left over, or nobody's.
OwnedFd Create(const OwnedFd& directory, const std::string& name, mode_t mode) {
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  OwnedFd fd(openat(directory.get(), name.c_str(), flags, mode));
  if (fd || errno != EEXIST || unlinkat(directory.get(), name.c_str(), 0) != 0) return fd;
  return OwnedFd(openat(directory.get(), name.c_str(), flags, mode));
}

int WriteTemporary(const OwnedFd& directory, const std::string& name, std::initializer_list<std::string_view> pieces,
                   mode_t mode) {
  const OwnedFd fd = Create(directory, name, mode);
  if (!fd) return errno;
  for (std::string_view piece : pieces) {
    if (const int error = WriteAll(fd.get(), piece); error != 0) return error;
  }
  return Sync(fd);
}

// Zero, or an errno.
int Rename(const OwnedFd& directory, const std::string& from, const std::string& to) {
  return renameat(directory.get(), from.c_str(), directory.get(), to.c_str()) == 0 ? 0 : errno;
}

// EEXIST if something has that name.
int RenameToNew(const OwnedFd& directory, const std::string& from, const std::string& to) {
  const int fd = directory.get();
  if (renameat2(fd, from.c_str(), fd, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL) return errno;
  // A file system that does not know the flag: a link replaces nothing, either.
  return linkat(fd, from.c_str(), fd, to.c_str(), 0) == 0 && unlinkat(fd, from.c_str(), 0) == 0 ? 0 : errno;
}

absl::Status Write(const OwnedFd& directory, const std::string& name, std::initializer_list<std::string_view> pieces,
                   mode_t mode, int (*give_name)(const OwnedFd&, const std::string&, const std::string&)) {
  const std::string temporary = absl::StrCat(name, kTemporarySuffix);
  int error = WriteTemporary(directory, temporary, pieces, mode);
  if (error == 0) error = give_name(directory, temporary, name);
  if (error != 0) unlinkat(directory.get(), temporary.c_str(), 0);
  // The name, too, is only safe once the directory is.
  if (error == 0) error = Sync(directory);
  return error == 0 ? absl::OkStatus() : absl::ErrnoToStatus(error, absl::StrCat("cannot write ", name));
}

// Ours, or none, with an errno: a file that somebody else has put there is no lock. Only for reading: nobody can make a
// file system read-only while a file on it is open for writing.
OwnedFd OpenLock(const OwnedFd& directory) {
  constexpr int kFlags = O_RDONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  OwnedFd fd(openat(directory.get(), kLockFile, kFlags, S_IRUSR | S_IWUSR));
  struct stat st = {};
  if (!fd || fstat(fd.get(), &st) != 0) return OwnedFd();
  if (S_ISREG(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & (S_IRWXG | S_IRWXO)) == 0) return fd;
  errno = EPERM;
  return OwnedFd();
}

FileRead OutcomeOf(int error) {
  switch (error) {
    case ENOENT:
      return FileRead::kGone;
    case ELOOP:
    case ENXIO:
      return FileRead::kNotRegular;
    case EIO:
    case ESTALE:
    case EUCLEAN:
      return FileRead::kUnreadable;
    default:
      return FileRead::kTryLater;
  }
}

// Looks before it opens: opening can block, or do something.
FileRead OpenForReading(const OwnedFd& directory, const std::string& name, OwnedFd& fd, uint64_t& file_bytes) {
  struct stat st;
  if (fstatat(directory.get(), name.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) return OutcomeOf(errno);
  if (!S_ISREG(st.st_mode)) return FileRead::kNotRegular;
  fd = OwnedFd(openat(directory.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd || fstat(fd.get(), &st) != 0) return OutcomeOf(errno);
  if (!S_ISREG(st.st_mode)) return FileRead::kNotRegular;
  file_bytes = static_cast<uint64_t>(st.st_size);
  return FileRead::kRead;
}

// Fewer bytes if the file ends before them.
FileRead ReadBytes(const OwnedFd& fd, size_t size, std::string& bytes) {
  bytes.resize(size);
  size_t at = 0;
  while (at < size) {
    const ssize_t n = read(fd.get(), bytes.data() + at, size - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return OutcomeOf(errno);
    if (n == 0) break;
    at += static_cast<size_t>(n);
  }
  bytes.resize(at);
  return FileRead::kRead;
}

}  // namespace

absl::StatusOr<LockedDirectory> OpenDirectoryAlone(const std::string& path, mode_t mode) {
  if (mkdir(path.c_str(), mode) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make the directory ", path));
  }
  LockedDirectory directory = {.fd = OwnedFd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
                               .lock = OwnedFd()};
  if (!directory.fd) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open the directory ", path));
  directory.lock = OpenLock(directory.fd);
  const int error = errno;
  if (directory.lock && flock(directory.lock.get(), LOCK_EX | LOCK_NB) == 0) return directory;
  if (directory.lock && errno == EWOULDBLOCK) {
    return absl::FailedPreconditionError(absl::StrCat("the directory ", path, " is in use by another process"));
  }
  return absl::ErrnoToStatus(directory.lock ? errno : error, absl::StrCat("cannot lock the directory ", path));
}

absl::Status WriteWholeFile(const OwnedFd& directory, const std::string& name,
                            std::initializer_list<std::string_view> pieces, mode_t mode) {
  return Write(directory, name, pieces, mode, Rename);
}

absl::Status WriteNewFile(const OwnedFd& directory, const std::string& name,
                          std::initializer_list<std::string_view> pieces, mode_t mode) {
  return Write(directory, name, pieces, mode, RenameToNew);
}

absl::Status OverwriteFile(const OwnedFd& directory, const std::string& name, std::string_view bytes) {
  OwnedFd fd(openat(directory.get(), name.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat st = {};
  if (!fd || fstat(fd.get(), &st) != 0) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", name));
  if (!S_ISREG(st.st_mode) || static_cast<size_t>(st.st_size) != bytes.size()) {
    return absl::FailedPreconditionError(absl::StrCat(name, " has changed"));
  }
  int error = WriteAll(fd.get(), bytes);
  if (error == 0) error = Sync(fd);
  return error == 0 ? absl::OkStatus() : absl::ErrnoToStatus(error, absl::StrCat("cannot write ", name));
}

FileStart ReadFileStart(const OwnedFd& directory, const std::string& name, size_t bytes) {
  FileStart start;
  OwnedFd fd;
  start.outcome = OpenForReading(directory, name, fd, start.file_bytes);
  if (start.outcome != FileRead::kRead) return start;
  const uint64_t wanted = std::min<uint64_t>(bytes, start.file_bytes);
  start.outcome = ReadBytes(fd, static_cast<size_t>(wanted), start.bytes);
  return start;
}

FileStart ReadWholeFile(const OwnedFd& directory, const std::string& name, size_t max_bytes) {
  FileStart start;
  OwnedFd fd;
  start.outcome = OpenForReading(directory, name, fd, start.file_bytes);
  if (start.outcome != FileRead::kRead) return start;
  start.outcome = start.file_bytes > max_bytes ? FileRead::kTooLarge
                                               : ReadBytes(fd, static_cast<size_t>(start.file_bytes), start.bytes);
  return start;
}

absl::Status ListDirectory(const OwnedFd& directory, absl::FunctionRef<void(const char*)> see) {
  // A descriptor of its own, because closedir closes it and the place in the listing belongs to it.
  OwnedFd fd(openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return absl::ErrnoToStatus(errno, "cannot open the directory");
  DIR* list = fdopendir(fd.get());
  if (list == nullptr) return absl::ErrnoToStatus(errno, "cannot list the directory");
  fd.release();
  errno = 0;
  while (const struct dirent* entry = readdir(list)) {
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) see(entry->d_name);
    errno = 0;
  }
  const int error = errno;
  closedir(list);
  return error == 0 ? absl::OkStatus() : absl::ErrnoToStatus(error, "cannot list the directory");
}

}  // namespace offcpu

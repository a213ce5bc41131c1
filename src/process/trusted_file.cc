#include "process/trusted_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "os/regular_file.h"

namespace offcpu {
namespace {

// With O_PATH, and no symbolic link on the way.
OwnedFd OpenPlain(int directory, const char* name, uint64_t flags, uint64_t resolve) {
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW | flags;
  how.resolve = RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | resolve;
  return OwnedFd(static_cast<int>(syscall(SYS_openat2, directory, name, &how, sizeof(how))));
}

FileRefusal RefusalOfErrno() {
  if (errno == ELOOP) return FileRefusal::kSymbolicLink;
  return errno == EXDEV ? FileRefusal::kMounted : FileRefusal::kNone;
}

FileRefusal Judge(const Credentials& who, const struct stat& directory, const struct stat& file) {
  if (S_ISLNK(file.st_mode)) return FileRefusal::kSymbolicLink;
  if (!S_ISREG(file.st_mode)) return FileRefusal::kNotRegular;
  if (file.st_nlink > 1) return FileRefusal::kSeveralNames;
  if (file.st_uid != who.uid && file.st_uid != 0) return FileRefusal::kOtherOwner;
  if (!MaySearch(who, directory) || !MayRead(who, file)) return FileRefusal::kNotReadable;
  return (file.st_mode & S_IWOTH) != 0 ? FileRefusal::kWritable : FileRefusal::kNone;
}

}  // namespace

std::string_view Name(FileRefusal refusal) {
  switch (refusal) {
    case FileRefusal::kNone:
      return "none";
    case FileRefusal::kSymbolicLink:
      return "symbolic link";
    case FileRefusal::kNotRegular:
      return "not a regular file";
    case FileRefusal::kMounted:
      return "mounted over";
    case FileRefusal::kSeveralNames:
      return "several names";
    case FileRefusal::kOtherOwner:
      return "another user's";
    case FileRefusal::kNotReadable:
      return "not readable by the process";
    case FileRefusal::kWritable:
      return "writable by everybody";
  }
  return "none";
}

TrustedFile OpenTrustedFile(pid_t pid, const Credentials& who, const std::string& directory, const std::string& name) {
  const OwnedFd root(open(absl::StrCat("/proc/", pid, "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return {};
  const OwnedFd in = OpenPlain(root.get(), directory.c_str(), O_DIRECTORY, RESOLVE_IN_ROOT);
  const OwnedFd file = in ? OpenPlain(in.get(), name.c_str(), 0, RESOLVE_BENEATH | RESOLVE_NO_XDEV) : OwnedFd();
  if (!file) return {.file = OwnedFd(), .refusal = RefusalOfErrno()};
  struct stat directory_stat;
  struct stat file_stat;
  if (fstat(in.get(), &directory_stat) != 0 || fstat(file.get(), &file_stat) != 0) return {};
  const FileRefusal refusal = Judge(who, directory_stat, file_stat);
  return {.file = refusal == FileRefusal::kNone ? OpenRegularFile(file) : OwnedFd(), .refusal = refusal};
}

}  // namespace offcpu

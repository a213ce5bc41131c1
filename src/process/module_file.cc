#include "process/module_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "os/regular_file.h"

namespace offcpu {
namespace {

// The path is the target's word, and what it leads to may be a file that only we may read.
bool IsMapped(const OwnedFd& fd, const Mapping& mapping) {
  struct stat st;
  return fd && fstat(fd.get(), &st) == 0 && st.st_ino == mapping.inode && major(st.st_dev) == mapping.dev_major &&
         minor(st.st_dev) == mapping.dev_minor;
}

bool TellsKernelsNumbers(const OwnedFd& file) {
  struct statfs fs;
  if (!file || fstatfs(file.get(), &fs) != 0) return false;
  return fs.f_type == EXT4_SUPER_MAGIC || fs.f_type == XFS_SUPER_MAGIC || fs.f_type == TMPFS_MAGIC;
}

// As the process sees it, with O_PATH: its symbolic links do not lead out of its root.
OwnedFd OpenInRoot(pid_t pid, const std::string& path) {
  OwnedFd root(open(absl::StrCat("/proc/", pid, "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return OwnedFd();
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return OwnedFd(static_cast<int>(syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof(how))));
}

}  // namespace

bool IsAnotherFile(const OwnedFd& file, const Mapping& mapping) {
  return TellsKernelsNumbers(file) && !IsMapped(file, mapping);
}

uid_t PayerOf(const OwnedFd& file, uid_t user) {
  struct stat st;
  struct statfs fs;
  if (!file || fstat(file.get(), &st) != 0 || fstatfs(file.get(), &fs) != 0) return user;
  return fs.f_type == FUSE_SUPER_MAGIC ? user : st.st_uid;
}

OwnedFd OpenMappedFile(pid_t pid, const Mapping& mapping) {
  const std::string link =
      absl::StrCat("/proc/", pid, "/map_files/", absl::Hex(mapping.begin), "-", absl::Hex(mapping.end));
  // The link leads to the file that is mapped there now; overlay file systems show other inodes.
  OwnedFd file = OpenRegularFile(OwnedFd(open(link.c_str(), O_PATH | O_CLOEXEC)));
  if (file || mapping.deleted) return file;
  OwnedFd path = OpenInRoot(pid, mapping.path);
  return IsMapped(path, mapping) ? OpenRegularFile(path) : OwnedFd();
}

}  // namespace offcpu

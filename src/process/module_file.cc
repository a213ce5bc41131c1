#include "process/module_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "process/regular_file.h"

namespace offcpu {
namespace {

bool HasInode(const OwnedFd& fd, uint64_t inode) {
  struct stat st;
  return fd && fstat(fd.get(), &st) == 0 && st.st_ino == inode;
}

}  // namespace

OwnedFd OpenInRoot(pid_t pid, const std::string& path) {
  OwnedFd root(open(absl::StrCat("/proc/", pid, "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return OwnedFd();
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return OwnedFd(static_cast<int>(syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof(how))));
}

OwnedFd OpenMappedFile(pid_t pid, const Mapping& mapping) {
  const std::string link =
      absl::StrCat("/proc/", pid, "/map_files/", absl::Hex(mapping.begin), "-", absl::Hex(mapping.end));
  // The link leads to the mapped file itself, so there is nothing to compare; overlay file systems show other inodes.
  OwnedFd file = OpenRegularFile(OwnedFd(open(link.c_str(), O_PATH | O_CLOEXEC)));
  if (file || mapping.deleted) return file;
  OwnedFd path = OpenInRoot(pid, mapping.path);
  return mapping.inode == 0 || HasInode(path, mapping.inode) ? OpenRegularFile(path) : OwnedFd();
}

}  // namespace offcpu

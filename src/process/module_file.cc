#include "process/module_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

// Opening a path for reading may block (a fifo) or do something (a device, an automount); O_PATH does neither, and what
// it yields can be looked at before it is opened in earnest.
OwnedFd OpenRegular(const OwnedFd& path, uint64_t inode) {
  struct stat st;
  if (!path || fstat(path.get(), &st) != 0 || !S_ISREG(st.st_mode)) return OwnedFd();
  if (inode != 0 && st.st_ino != inode) return OwnedFd();
  const std::string self = absl::StrCat("/proc/self/fd/", path.get());
  return OwnedFd(open(self.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
}

// `path` as the process sees it: its symbolic links must not lead out of its root.
OwnedFd OpenInRoot(pid_t pid, const std::string& path) {
  OwnedFd root(open(absl::StrCat("/proc/", pid, "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return OwnedFd();
  open_how how = {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return OwnedFd(static_cast<int>(syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof(how))));
}

}  // namespace

OwnedFd OpenMappedFile(pid_t pid, const Mapping& mapping) {
  const std::string link =
      absl::StrCat("/proc/", pid, "/map_files/", absl::Hex(mapping.begin), "-", absl::Hex(mapping.end));
  // The link leads to the mapped file itself, so there is nothing to compare; overlay file systems show other inodes.
  OwnedFd file = OpenRegular(OwnedFd(open(link.c_str(), O_PATH | O_CLOEXEC)), 0);
  if (file || mapping.deleted) return file;
  return OpenRegular(OpenInRoot(pid, mapping.path), mapping.inode);
}

}  // namespace offcpu

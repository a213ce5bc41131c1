#include "os/file_identity.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace offcpu {

namespace {

uint64_t NsOf(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

bool IsUnchanged(const OwnedFd& file, const FileIdentity& identity) {
  if (!file) return identity == FileIdentity();
  struct statx now;
  if (statx(file.get(), "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_CTIME | STATX_SIZE, &now) != 0) return false;
  const timespec changed = {.tv_sec = now.stx_ctime.tv_sec, .tv_nsec = now.stx_ctime.tv_nsec};
  return now.stx_size == identity.bytes && NsOf(changed) == identity.changed_ns;
}

FileIdentity IdentityOf(const OwnedFd& file) {
  struct stat st;
  struct statfs fs;
  if (!file || fstat(file.get(), &st) != 0 || fstatfs(file.get(), &fs) != 0) return {};
  return {.device = st.st_dev,
          .inode = st.st_ino,
          .bytes = static_cast<uint64_t>(st.st_size),
          .changed_ns = NsOf(st.st_ctim),
          .is_layered = fs.f_type == OVERLAYFS_SUPER_MAGIC || fs.f_type == BTRFS_SUPER_MAGIC};
}

}  // namespace offcpu

// Which file an open one is, for as long as it is held open, and whether it has been written to since. Safe from any
// thread.
#ifndef OFFCPU_OS_FILE_IDENTITY_H_
#define OFFCPU_OS_FILE_IDENTITY_H_

#include <cstdint>

#include "os/owned_fd.h"

namespace offcpu {

// Which file it is, as fstat tells of an open one. As long as it is held open no other file can have that device and
// inode, whatever is unmounted meanwhile; the time tells that it was written to.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t bytes = 0;
  uint64_t changed_ns = 0;
  // On overlay file systems and btrfs the kernel itself knows the file by another device, and on the former perhaps by
  // an inode number without the upper bits.
  bool is_layered = false;

  bool operator==(const FileIdentity&) const = default;
};
FileIdentity IdentityOf(const OwnedFd& file);  // of none: all zero
// Has the file of that identity not been written to since, as far as this host knows? Asks no server.
bool IsUnchanged(const OwnedFd& file, const FileIdentity& identity);

}  // namespace offcpu

#endif  // OFFCPU_OS_FILE_IDENTITY_H_

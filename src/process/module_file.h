// Opens the file behind a mapping of another process. Safe from any thread; may block on a file system that hangs. A
// device, a fifo or a file that only pretends to be the mapped one is never opened for reading.
#ifndef OFFCPU_PROCESS_MODULE_FILE_H_
#define OFFCPU_PROCESS_MODULE_FILE_H_

#include <sys/types.h>

#include "os/owned_fd.h"
#include "process/maps.h"

namespace offcpu {

// Through /proc/PID/map_files, which also serves deleted files and other mount namespaces, else by the path below
// /proc/PID/root if device and inode are the mapping's. Empty if neither yields a regular file.
OwnedFd OpenMappedFile(pid_t pid, const Mapping& mapping);

// Is it known to be another file than the mapping's, because that one has been unmapped since and another one is mapped
// there? Only some file systems tell programs the numbers by which the kernel's list of mappings names a file.
bool IsAnotherFile(const OwnedFd& file, const Mapping& mapping);

// In whose name there has to be room for what a file says, which a process of `user` has mapped. Its owner: a user who
// maps a file of others, even as the first, must not have a say in whether they have room for it. Where the owner is
// the word of a program (FUSE), and without a file, `user`.
uid_t PayerOf(const OwnedFd& file, uid_t user);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_MODULE_FILE_H_

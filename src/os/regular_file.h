// Opens a file for reading only if it is a regular one. Opening a name may block (a fifo) or do something (a device, an
// automount); O_PATH does neither, and what it yields can be looked at before it is opened in earnest. Safe from any
// thread; may block on a file system that hangs.
#ifndef OFFCPU_OS_REGULAR_FILE_H_
#define OFFCPU_OS_REGULAR_FILE_H_

#include "os/owned_fd.h"

namespace offcpu {

// `path`: a descriptor opened with O_PATH, or none. Empty if it is not a regular file or cannot be read.
OwnedFd OpenRegularFile(const OwnedFd& path);

}  // namespace offcpu

#endif  // OFFCPU_OS_REGULAR_FILE_H_

// Opens the file behind a mapping of another process. Safe from any thread; may block on a file system that hangs. A
// device, a fifo or a file that only pretends to be the mapped one is never opened for reading.
#ifndef OFFCPU_PROCESS_MODULE_FILE_H_
#define OFFCPU_PROCESS_MODULE_FILE_H_

#include <sys/types.h>

#include <string>

#include "process/maps.h"
#include "process/module.h"

namespace offcpu {

// Through /proc/PID/map_files, which also serves deleted files and other mount namespaces, else by the path below
// /proc/PID/root if the inode is the mapping's. Empty if neither yields a regular file.
OwnedFd OpenMappedFile(pid_t pid, const Mapping& mapping);

// `path` as the process sees it, with O_PATH: its symbolic links do not lead out of its root.
OwnedFd OpenInRoot(pid_t pid, const std::string& path);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_MODULE_FILE_H_

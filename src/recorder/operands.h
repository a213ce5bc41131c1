// What the user named on the command line or in the configuration, checked and turned into what the recorder takes:
// every error is found before anything is loaded.
#ifndef OFFCPU_RECORDER_OPERANDS_H_
#define OFFCPU_RECORDER_OPERANDS_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profile/profile.h"

namespace offcpu {

// NotFound, also if it has ended, or InvalidArgument for a thread that is not its process's first one.
absl::Status CheckProcess(pid_t pid);
// InvalidArgument for a kernel thread, too.
absl::Status CheckUserProcess(pid_t pid);
absl::Status CheckThread(pid_t tid);
bool IsKernelThread(pid_t id);

// A user by number or by name.
absl::StatusOr<uid_t> FindUser(const std::string& name);
// By name or by the letter that ps shows: "sleeping" or "S".
absl::StatusOr<WaitKind> FindState(const std::string& name);

// What only waits to be reaped has ended; a process goes on without its first thread while it has others.
bool ThreadHasEnded(pid_t tid);
bool ProcessHasEnded(pid_t pid);

// A directory, or a path below the cgroup v2 mount, as a directory.
absl::StatusOr<std::string> CgroupDirectory(const std::string& path);
// The cgroup directory of a container, by its id or the beginning of it.
absl::StatusOr<std::string> ContainerDirectory(const std::string& id);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_OPERANDS_H_

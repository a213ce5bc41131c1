// Container ids as cgroup paths carry them (docker, containerd and CRI, podman, CRI-O; cgroup v1 and v2). No state;
// safe from any thread. Does not ask a container runtime.
#ifndef OFFCPU_PROCESS_CONTAINER_H_
#define OFFCPU_PROCESS_CONTAINER_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace offcpu {

// The id of the innermost container in the text of /proc/PID/cgroup: 64 lower-case hex digits, "" outside of any.
std::string ContainerId(std::string_view cgroup_file_text);

// The same of one path of a cgroup; it lies in `path`.
std::string_view ContainerIdInPath(std::string_view path);

// The directory below `root`, a cgroup v2 mount, of the container whose id is or begins with `id` (8 hex digits or
// more). An error says whether there is none or more than one.
absl::StatusOr<std::string> FindContainerCgroup(const std::string& root, const std::string& id);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_CONTAINER_H_

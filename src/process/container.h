// Containers as cgroup paths carry them: ids (docker, containerd and CRI, podman, CRI-O), and names of those that have
// none (LXC, Incus, systemd-nspawn, machines of libvirt); cgroup v1 and v2. No state; safe from any thread. Does not
// ask a container runtime.
#ifndef OFFCPU_PROCESS_CONTAINER_H_
#define OFFCPU_PROCESS_CONTAINER_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace offcpu {

// The innermost container in the text of /proc/PID/cgroup: its id, 64 lower-case hex digits, or its name behind those
// of the containers that it is in, "outer/inner", as a name is one of them alone; "" outside of any.
std::string ContainerId(std::string_view cgroup_file_text);

// The same of one path of a cgroup.
std::string ContainerIdInPath(std::string_view path);

// The directory below `root`, a cgroup v2 mount, of the container whose id is or begins with `id` (8 hex digits or
// more), or whose name is that. An error says whether there is none or more than one.
absl::StatusOr<std::string> FindContainerCgroup(const std::string& root, const std::string& id);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_CONTAINER_H_

// Which threads are in a cgroup now. Reads the cgroup file system.
#ifndef OFFCPU_RECORDER_CGROUP_THREADS_H_
#define OFFCPU_RECORDER_CGROUP_THREADS_H_

#include <sys/types.h>

#include <string>
#include <unordered_set>
#include <vector>

namespace offcpu {

// Every thread in or below one of the directories.
std::unordered_set<pid_t> ThreadsOfCgroups(const std::vector<std::string>& cgroups);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_CGROUP_THREADS_H_

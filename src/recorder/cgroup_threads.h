// Which threads are in a cgroup now. Reads the cgroup file system.
#ifndef OFFCPU_RECORDER_CGROUP_THREADS_H_
#define OFFCPU_RECORDER_CGROUP_THREADS_H_

#include <sys/types.h>

#include <string>
#include <unordered_set>
#include <vector>

#include "bpf_programs/selection.h"

namespace offcpu {

// Every thread in or below one of the directories; of each, 2^18 are looked at. Those that go away meanwhile are passed
// over.
std::unordered_set<pid_t> ThreadsOfCgroups(const std::vector<std::string>& cgroups);

// Those whose control groups the selection wants; whatever else it says. A Thread has a `tid`.
template <typename Thread>
void KeepMembers(const Selection& selection, std::vector<Thread>* threads) {
  if (threads->empty()) return;
  if (!selection.cgroups.empty()) {
    const std::unordered_set<pid_t> members = ThreadsOfCgroups(selection.cgroups);
    std::erase_if(*threads, [&](const Thread& thread) { return !members.contains(thread.tid); });
  }
  if (!selection.excluded_cgroups.empty()) {
    const std::unordered_set<pid_t> members = ThreadsOfCgroups(selection.excluded_cgroups);
    std::erase_if(*threads, [&](const Thread& thread) { return members.contains(thread.tid); });
  }
}

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_CGROUP_THREADS_H_

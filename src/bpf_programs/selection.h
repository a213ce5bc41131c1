// Which threads are recorded, and which of their waits. Plain data: what the BPF programs filter by, and what is shown
// of waits that are still open.
#ifndef OFFCPU_BPF_PROGRAMS_SELECTION_H_
#define OFFCPU_BPF_PROGRAMS_SELECTION_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace offcpu {

// The others are counted, and not recorded.
struct WaitSelection {
  uint64_t min_wait_ns = 0;     // of the whole wait, not of its part in a window
  uint64_t max_wait_ns = 0;     // 0: any length
  std::vector<WaitKind> kinds;  // empty: all
};

// All empty: the whole host. Kinds of members are combined with "and", members of one kind with "or".
struct Selection : WaitSelection {
  std::vector<pid_t> pids;
  std::vector<pid_t> tids;
  std::vector<std::string> cgroups;  // directories below a cgroup v2 mount; descendants belong to them
  std::vector<std::string> comms;    // globs (* and ?) over the thread's name
  pid_t command = 0;                 // recorded from its execve on, beside `pids`; 0: none
  bool follow_forks = false;         // children of `pids` and of `command` are recorded too
  std::vector<uid_t> uids;           // effective ones
  // Not to be recorded, whatever is: processes with the children that they make from now on, cgroups, threads' names.
  std::vector<pid_t> excluded_pids;
  std::vector<std::string> excluded_cgroups;
  std::vector<std::string> excluded_comms;
  bool kernel_threads = false;  // are recorded too
};

}  // namespace offcpu

#endif  // OFFCPU_BPF_PROGRAMS_SELECTION_H_

// Which CPUs a target may use, and which of them a thread of it does.
#ifndef OFFCPU_TESTS_TARGETS_CPUS_H_
#define OFFCPU_TESTS_TARGETS_CPUS_H_

#include <sched.h>
#include <sys/types.h>

#include <vector>

#include "target.h"

namespace target {

inline std::vector<int> Cpus() {
  cpu_set_t set;
  Check(sched_getaffinity(0, sizeof(set), &set) == 0, "sched_getaffinity");
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

// 0: the calling thread.
inline void Pin(pid_t tid, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  Check(sched_setaffinity(tid, sizeof(set), &set) == 0, "sched_setaffinity");
}

}  // namespace target

#endif  // OFFCPU_TESTS_TARGETS_CPUS_H_

// The file in which a runtime tells what it has compiled: /tmp/perf-PID.map, by the number that the process has in its
// own pid namespace, below its own root. Opening it touches the target's file system, which may block: it belongs on a
// reader thread. Does not read it: see symbolize/perf_map.h.
#ifndef OFFCPU_PROCESS_PERF_MAP_H_
#define OFFCPU_PROCESS_PERF_MAP_H_

#include <sys/types.h>

#include <memory>

#include "process/module.h"

namespace offcpu {

// A module that stands for the code which the process has made: without tables, its link-time addresses are those in
// the process, and its file is the map. Null if there is none. `pid` may be any thread's. Only a file of the process's
// own user, or of root's, counts: the name can be guessed, and anybody can write to /tmp. What the file says is the
// process's word all the same.
std::shared_ptr<const Module> OpenPerfMap(pid_t pid);

// Are both of one file?
bool SamePerfMap(const Module& a, const Module& b);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_PERF_MAP_H_

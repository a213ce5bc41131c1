// The file in which a runtime names the code that it has made: /tmp/perf-PID.map, by the number that the process has in
// its own pid namespace, below its own root. It counts only as trusted_file.h says. Opening it belongs on a reader
// thread. Does not read it: see functions.h.
//
// A forked process still has code that was made before, and that only the map of its parent names. CPython's stays as
// it is: what its trampolines are for is never changed. Other code may be made at the same addresses by both processes.
#ifndef OFFCPU_RUNTIMES_PERF_MAP_PERF_MAP_H_
#define OFFCPU_RUNTIMES_PERF_MAP_PERF_MAP_H_

#include <sys/types.h>

#include <memory>
#include <vector>

#include "process/address_space.h"
#include "process/code_object.h"
#include "process/code_reader.h"
#include "process/trusted_file.h"

namespace offcpu {

struct PerfMap {
  // The code that the process has made; its file is the map. Null if there is none.
  std::shared_ptr<CodeObject> code;
  FileRefusal refusal = FileRefusal::kNone;  // kNone: there is no such file, or it is taken
};

// `pid` may be any thread's.
PerfMap OpenPerfMap(pid_t pid);

// The maps of the processes that `pid` was forked from without an execve since, nearest first, each the `before_fork`
// of the one before. They count as those of `pid` do. Null if there are none.
std::shared_ptr<const CodeObject> OpenPerfMapsBeforeFork(pid_t pid);

// Are both of one file, and those before the fork, too?
bool SamePerfMap(const CodeObject& a, const CodeObject& b);

// Names code that the process has made itself by its perf map, if it writes one, and copies of CPython's trampoline by
// those before the fork besides. See CodeReader::read_made.
void NameByPerfMap(const ReadProcess& process, std::vector<MappedCode>* code);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_PERF_MAP_PERF_MAP_H_

// The file in which a runtime names the code that it has made: /tmp/perf-PID.map, by the number that the process has in
// its own pid namespace, below its own root. It counts only as trusted_file.h says. Opening it belongs on a reader
// thread. Does not read it: see functions.h.
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
  std::shared_ptr<const CodeObject> code;
  FileRefusal refusal = FileRefusal::kNone;  // kNone: there is no such file, or it is taken
};

// `pid` may be any thread's.
PerfMap OpenPerfMap(pid_t pid);

// Are both of one file?
bool SamePerfMap(const CodeObject& a, const CodeObject& b);

// Names code that the process has made itself by its perf map, if it writes one. See CodeReader::read_made.
void NameByPerfMap(const ReadProcess& process, std::vector<MappedCode>* code);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_PERF_MAP_PERF_MAP_H_

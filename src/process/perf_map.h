// The file in which a runtime tells what it has compiled: /tmp/perf-PID.map, by the number that the process has in its
// own pid namespace, below its own root. Opening it touches the target's file system, which may block: it belongs on a
// reader thread. Does not read it: see symbolize/perf_map_names.h.
//
// Anybody can write to /tmp and guess the name, so that a file counts only if the process could have read it, and
// nobody else put it there: it is a regular file with this one name, of the process's own user or of root's, readable
// by the process and not writable by everybody, and neither it nor /tmp is a symbolic link or, for the file, a mount.
// What it says is the process's word all the same.
#ifndef OFFCPU_PROCESS_PERF_MAP_H_
#define OFFCPU_PROCESS_PERF_MAP_H_

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "process/code_object.h"

namespace offcpu {

// Why a file of that name is not taken.
enum class PerfMapRefusal : uint8_t {
  kNone,
  kSymbolicLink,
  kNotRegular,    // a device, a fifo, a directory
  kMounted,       // over the name
  kSeveralNames,  // it may be anybody's: to make a hard link takes no right to read
  kOtherOwner,
  kNotReadable,  // by the process
  kWritable,     // by everybody
};
inline constexpr size_t kPerfMapRefusals = 8;
using PerfMapRefusals = std::array<uint64_t, kPerfMapRefusals>;

std::string_view Name(PerfMapRefusal refusal);  // "symbolic link", "several names", ...

struct PerfMap {
  // The code that the process has made; its file is the map. Null if there is none.
  std::shared_ptr<const CodeObject> code;
  PerfMapRefusal refusal = PerfMapRefusal::kNone;  // kNone: there is no such file, or it is taken
};

// `pid` may be any thread's.
PerfMap OpenPerfMap(pid_t pid);

// Is that the name of a perf map: "perf-1234.map", in any directory?
bool IsPerfMapPath(std::string_view path);

// Are both of one file?
bool SamePerfMap(const CodeObject& a, const CodeObject& b);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_PERF_MAP_H_

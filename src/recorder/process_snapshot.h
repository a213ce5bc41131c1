// One snapshot of a process: what it is and what code it has mapped. Reads the target's memory and files, which may
// block for ever: runs on reader threads, touches nothing shared but the module cache.
#ifndef OFFCPU_RECORDER_PROCESS_SNAPSHOT_H_
#define OFFCPU_RECORDER_PROCESS_SNAPSHOT_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bpf_programs/events.h"
#include "process/address_space.h"
#include "process/identity.h"
#include "process/module_cache.h"
#include "process/service_name.h"
#include "recorder/shared_files.h"
#include "runtimes/find_runtime.h"

namespace offcpu {

enum class SnapshotOutcome : uint8_t {
  kSeen,
  kGone,        // it has ended, or is another program by now
  kUnreadable,  // it is there, but its mappings could not be read
  kChanging,    // they changed while they were read: a program that is starting
  kStuck,       // the snapshot did not come back in time
};

struct ProcessSnapshot {
  SnapshotOutcome outcome = SnapshotOutcome::kUnreadable;
  std::string name;                           // comm
  std::string container;                      // id, "" outside of any
  std::string executable{};                   // its path, "" if it cannot be found
  ServiceNames service{};                     // where they were asked for
  CodeVersion code;                           // of `space`
  std::vector<CodeMapping> mappings;          // what code.hash stands for; empty if it is 0
  std::shared_ptr<const AddressSpace> space;  // set iff kSeen
  FoundRuntime runtime{};                     // likewise
  uint64_t cpu_ns = 0;                        // that looking took
};

// What the kernel says of the process of a thread now: the key and the code version; nothing if the thread is gone.
struct ProcessVersion {
  ProcessKey process;
  CodeVersion code;
  std::vector<CodeMapping> mappings;
};
using DescribeFunction = std::function<std::optional<ProcessVersion>(pid_t tid)>;

// `tid` is a thread of it: its first one may have ended before the others. `previous` (may be null) spares reading
// again what has not changed, `shared` (may be null) what others have mapped, too.
ProcessSnapshot TakeProcessSnapshot(const ProcessKey& process, pid_t tid, const AddressSpace* previous,
                                    const DescribeFunction& describe, ModuleCache& modules, const SharedFiles* shared);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_PROCESS_SNAPSHOT_H_

// One reading of a process from outside: the stacks of threads of it that wait, the code that it has mapped, and what a
// language runtime of it has made, all of which hold together. Needs the kernel's listing of threads. Reads the
// target's memory, which may block for ever: it belongs on a reader thread. Does not walk.
#ifndef OFFCPU_RECORDER_STACK_SNAPSHOT_H_
#define OFFCPU_RECORDER_STACK_SNAPSHOT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bpf_programs/events.h"
#include "bpf_programs/waiting_thread.h"
#include "process/address_space.h"
#include "process/module_cache.h"
#include "profile/profile.h"
#include "recorder/listing.h"
#include "recorder/live.h"
#include "runtimes/find_runtime.h"

namespace offcpu {

struct StackSnapshot {
  std::string name;
  NoUserStack failed = NoUserStack::kNone;  // why nothing can be walked
  std::shared_ptr<const AddressSpace> space;
  FoundRuntime runtime;
  CodeVersion code;
  std::vector<WaitingThread> threads;  // those asked for, as they were when their stack was read
  std::vector<LiveStack> stacks;       // parallel to `threads`
  std::vector<int32_t> lock_owners;    // likewise
};

// `threads` are of one process, and at least one. `runtime`: of the process, as far as an earlier reading has found it.
// Where
// the kernel tells no code version, the code is that of the stacks if it was the same before and after.
StackSnapshot TakeStackSnapshot(const std::vector<WaitingThread>& threads, size_t stack_bytes, const Listing& listing,
                                ModuleCache& modules, FoundRuntime found);

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_STACK_SNAPSHOT_H_

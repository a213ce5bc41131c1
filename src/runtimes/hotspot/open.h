// Finds a Java virtual machine of the HotSpot family in a process: by its library, and what that exports.
#ifndef OFFCPU_RUNTIMES_HOTSPOT_OPEN_H_
#define OFFCPU_RUNTIMES_HOTSPOT_OPEN_H_

#include "process/address_space.h"
#include "process/memory.h"
#include "process/memory_budget.h"
#include "runtimes/find_runtime.h"

namespace offcpu {

// See KnownRuntime::find.
FoundRuntime FindHotSpot(const MappedCode& code, const Memory& memory, MemoryLease room);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_HOTSPOT_OPEN_H_

// Which language runtime a process has: the one that its modules show. Reads the process and the files of its modules,
// which may block for ever: it belongs on a reader thread.
#ifndef OFFCPU_RUNTIMES_FIND_RUNTIME_H_
#define OFFCPU_RUNTIMES_FIND_RUNTIME_H_

#include <cstdint>
#include <memory>

#include "process/address_space.h"
#include "process/memory.h"
#include "process/memory_budget.h"
#include "runtimes/runtime.h"

namespace offcpu {

// Null: it has none that is known here, or one of a form that is not. `room`: for what is kept of it.
std::shared_ptr<Runtime> FindRuntime(const AddressSpace& space, const Memory& memory, MemoryLease room);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_FIND_RUNTIME_H_

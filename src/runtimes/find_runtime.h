// Which language runtime a process has: the one that its modules show. Reads the process and the files of its modules,
// which may block for ever: it belongs on a reader thread.
#ifndef OFFCPU_RUNTIMES_FIND_RUNTIME_H_
#define OFFCPU_RUNTIMES_FIND_RUNTIME_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "process/address_space.h"
#include "process/memory.h"
#include "process/memory_budget.h"
#include "process/module.h"
#include "runtimes/runtime.h"

namespace offcpu {

enum class RuntimeForm : uint8_t {
  kNone,     // the process has no runtime
  kServed,   // it has one
  kNotYet,   // it is starting, and may have one later
  kUnknown,  // it has one of a version or a build that is not known here
};

struct FoundRuntime {
  RuntimeForm form = RuntimeForm::kNone;
  std::shared_ptr<Runtime> runtime{};  // set iff kServed
  // What functions are missing if kUnknown, "[python: version]", and the module that has shown it.
  std::string_view missing{};
  std::shared_ptr<const Module> module{};
};

// `room`: whose budget what is kept of it is taken from.
FoundRuntime FindRuntime(const AddressSpace& space, const Memory& memory, const MemoryLease& room);

}  // namespace offcpu

#endif  // OFFCPU_RUNTIMES_FIND_RUNTIME_H_

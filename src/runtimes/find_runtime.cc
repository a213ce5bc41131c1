#include "runtimes/find_runtime.h"

#include "runtimes/known_runtimes.h"

namespace offcpu {

FoundRuntime FindRuntime(const AddressSpace& space, const Memory& memory, const MemoryLease& room) {
  for (const MappedCode& code : space.code()) {
    if (code.module == nullptr || !code.module->file) continue;
    for (const KnownRuntime& runtime : KnownRuntimes()) {
      if (runtime.find == nullptr) continue;
      FoundRuntime found = runtime.find(code, memory, room.Another());
      if (found.form != RuntimeForm::kNone) return found;
    }
  }
  return {};
}

}  // namespace offcpu

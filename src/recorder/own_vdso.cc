#include "recorder/own_vdso.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/proc_file.h"
#include "process/address_space.h"
#include "process/maps.h"

namespace offcpu {

void LearnOwnVdso(const DescribeFunction& describe, ModuleCache& modules, SharedFiles& files) {
  const std::optional<ProcessVersion> own = describe(getpid());
  const absl::StatusOr<std::string> text = ReadProcFile("/proc/self/maps", kMaxMapsBytes);
  if (!own.has_value() || !text.ok()) return;
  absl::StatusOr<std::vector<Mapping>> mappings = ParseMaps(*text);
  if (!mappings.ok()) return;
  std::erase_if(*mappings, [](const Mapping& m) { return m.path != "[vdso]"; });
  const std::shared_ptr<const AddressSpace> space =
      BuildAddressSpace(*mappings, ProcessMemory(getpid()), 0, nullptr, modules);
  if (space == nullptr) return;
  for (const CodeMapping& mapping : own->mappings) {
    const MappedCode* code = space->Find(mapping.begin);
    if (code != nullptr) files.LearnVdso(mapping, *code);
  }
}

}  // namespace offcpu

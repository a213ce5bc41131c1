#include "runtimes/find_runtime.h"

#include <string>
#include <utility>

#include "process/elf/file.h"
#include "process/module.h"
#include "process/monotonic_clock.h"
#include "runtimes/exported.h"
#include "runtimes/hotspot/hotspot.h"

namespace offcpu {
namespace {

std::shared_ptr<Runtime> OpenHotSpot(const MappedCode& code, const Memory& memory, MemoryLease room) {
  const FileMemory file(code.module->file.get());
  const absl::StatusOr<ElfFile> elf = ElfFile::Parse(file);
  if (!elf.ok()) return nullptr;
  std::map<std::string, uint64_t, std::less<>> symbols = ExportedSymbols(*elf, "gHotSpotVM");
  for (auto& [name, address] : symbols) address += code.bias;
  absl::StatusOr<std::shared_ptr<HotSpot>> vm = HotSpot::Open(memory, symbols, MonotonicNs, std::move(room));
  return vm.ok() ? *std::move(vm) : nullptr;
}

}  // namespace

std::shared_ptr<Runtime> FindRuntime(const AddressSpace& space, const Memory& memory, MemoryLease room) {
  for (const MappedCode& code : space.code()) {
    if (code.module == nullptr || !code.module->file) continue;
    if (code.module->path.ends_with("/libjvm.so")) return OpenHotSpot(code, memory, std::move(room));
  }
  return nullptr;
}

}  // namespace offcpu

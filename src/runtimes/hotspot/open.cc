#include "runtimes/hotspot/open.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "os/now.h"
#include "process/elf/file.h"
#include "runtimes/exported.h"
#include "runtimes/hotspot/hotspot.h"

namespace offcpu {
namespace {

// Libraries are mapped before they are relocated, and code is made after that.
RuntimeForm FormOf(const absl::Status& status) {
  const bool may_change = absl::IsUnavailable(status) || absl::IsDataLoss(status);
  return may_change ? RuntimeForm::kNotYet : RuntimeForm::kUnknown;
}

}  // namespace

FoundRuntime FindHotSpot(const MappedCode& code, const Memory& memory, MemoryLease room) {
  if (!code.module->path.ends_with("/libjvm.so")) return {};
  if (code.module->machine != &kX86_64) return {.form = RuntimeForm::kUnknown};  // see frame_rows.h
  const FileMemory file(code.module->file.get());
  const absl::StatusOr<ElfFile> elf = ElfFile::Parse(file);
  if (!elf.ok()) return {.form = RuntimeForm::kUnknown};
  std::map<std::string, uint64_t, std::less<>> symbols = ExportedSymbols(*elf, "gHotSpotVM");
  for (auto& [name, address] : symbols) address += code.bias;
  absl::StatusOr<std::shared_ptr<HotSpot>> vm = HotSpot::Open(
      memory, symbols, [] { return NowNs(CLOCK_MONOTONIC); }, std::move(room));
  if (!vm.ok()) return {.form = FormOf(vm.status())};
  return {.form = RuntimeForm::kServed, .runtime = *std::move(vm)};
}

}  // namespace offcpu

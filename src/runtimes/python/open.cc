#include "runtimes/python/open.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "process/elf/file.h"
#include "runtimes/exported.h"
#include "runtimes/python/cpython.h"
#include "runtimes/python/layout.h"

namespace offcpu {
namespace {

bool MayBePython(std::string_view path) {
  return path.substr(path.rfind('/') + 1).find("python") != std::string_view::npos;
}

}  // namespace

FoundRuntime FindCPython(const MappedCode& code, const Memory& memory, MemoryLease room) {
  if (!MayBePython(code.module->path)) return {};
  const FileMemory file(code.module->file.get());
  const absl::StatusOr<ElfFile> elf = ElfFile::Parse(file);
  if (!elf.ok()) return {};
  std::map<std::string, uint64_t, std::less<>> symbols = ExportedSymbols(*elf, kPythonSymbols);
  if (!symbols.contains("_PyRuntime")) return {};
  for (auto& [name, address] : symbols) address += code.bias;
  // The offsets are known of this machine alone.
  absl::StatusOr<PythonLayout> layout = absl::UnimplementedError("another machine");
  if (code.module->machine == &kX86_64) layout = ReadPythonLayout(memory, symbols);
  if (!layout.ok()) return {.form = RuntimeForm::kUnknown, .missing = kPythonVersion, .module = code.module};
  return {.form = RuntimeForm::kServed, .runtime = std::make_shared<CPython>(*layout, std::move(room))};
}

}  // namespace offcpu

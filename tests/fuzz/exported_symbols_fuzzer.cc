// An ELF object, mapped as a whole: whatever its PT_DYNAMIC claims, what it exports is no more than there is, and is
// searched.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "process/elf/exported_symbols.h"
#include "process/elf/image.h"
#include "symbolize/exported_names.h"
#include "symbolize/symbol_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace offcpu;
  constexpr uint64_t kBase = 0x7f0000000000;
  const uint64_t end = kBase + (size + 0xfff) / 0x1000 * 0x1000;
  if (end == kBase) return 0;
  const SpanMemory memory(kBase, std::as_bytes(std::span(data, size)));
  const FileMapping whole[] = {{kBase, end, 0, true}};
  auto image = ReadElfImage(memory, whole, whole[0]);
  if (!image.ok()) return 0;
  AddExportedSymbols(memory, &*image);
  const Module& module = image->module;
  if (module.dynamic_symbols.bytes.size() > size || module.dynamic_strings.bytes.size() > size) std::abort();
  const uint64_t first = module.code.front().begin;
  const std::vector<uint64_t> addresses = {first, first + 0x10, first + 0x100};
  const ModuleNames found = ReadExportedNames(module, addresses);
  if (found.names.size() != addresses.size()) std::abort();
  for (const std::string& name : found.names) {
    if (name.size() > kMaxSymbolNameBytes) std::abort();
  }
  return 0;
}

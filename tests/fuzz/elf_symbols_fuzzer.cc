// A whole ELF file: whatever it claims, its symbols are found at addresses in order and its names lie in its bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "process/elf/file.h"
#include "process/memory.h"
#include "symbolize/demangle.h"
#include "symbolize/elf_symbols.h"
#include "symbolize/symbol_table.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace offcpu;
  SpanMemory memory(0, std::as_bytes(std::span(data, size)));
  auto elf = ElfFile::Parse(memory);
  if (!elf.ok()) return 0;
  if (elf->BuildId().size() % 2 != 0) std::abort();
  std::vector<uint64_t> addresses;
  for (const ElfSection& section : elf->sections()) {
    for (uint64_t offset : {uint64_t{0}, section.size / 2, section.size - 1}) {
      addresses.push_back(section.address + offset);
    }
  }
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  const ModuleNames found = ReadElfSymbols(*elf, addresses, FunctionStarts(*elf));
  if (found.names.size() != addresses.size()) std::abort();
  for (const std::string& name : found.names) {
    if (name.size() > kMaxSymbolNameBytes || (!name.empty() && Demangle(name).empty())) std::abort();
  }
  return 0;
}

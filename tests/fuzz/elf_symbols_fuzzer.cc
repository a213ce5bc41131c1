// A whole ELF file: whatever it claims, its symbols are found at addresses in order and its names lie in its bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "process/memory.h"
#include "symbolize/demangle.h"
#include "symbolize/elf_file.h"
#include "symbolize/elf_symbols.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace offcpu;
  SpanMemory memory(0, std::as_bytes(std::span(data, size)));
  auto elf = ElfFile::Parse(memory);
  if (!elf.ok()) return 0;
  if (elf->BuildId().size() % 2 != 0) std::abort();
  ElfSymbols symbols = ReadElfSymbols(*elf);
  for (const ElfSection& section : elf->sections()) {
    for (uint64_t offset : {uint64_t{0}, section.size / 2, section.size - 1}) {
      auto name = symbols.table.Find(section.address + offset);
      if (name && (name->empty() || Demangle(*name).empty())) std::abort();
    }
  }
  return 0;
}

#include "process/elf/function_symbols.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <tuple>

namespace offcpu {
namespace {

// Labels are among them: a function may be entered there.
bool IsCode(const Elf64_Sym& symbol, const ElfSection& section) {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  return symbol.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC) &&
         symbol.st_value >= section.address && symbol.st_value - section.address < section.size;
}

// Sorts, and keeps the longest of those that begin at one place.
void Sort(std::vector<CodeRange>* ranges) {
  std::sort(ranges->begin(), ranges->end(),
            [](const CodeRange& a, const CodeRange& b) { return std::tie(a.begin, b.end) < std::tie(b.begin, a.end); });
  const auto same_begin = [](const CodeRange& a, const CodeRange& b) { return a.begin == b.begin; };
  ranges->erase(std::unique(ranges->begin(), ranges->end(), same_begin), ranges->end());
}

}  // namespace

std::vector<CodeRange> FunctionsIn(const ElfFile& file, const ElfSection& section, MemoryLease* lease) {
  const ElfSection* table = file.FindType(SHT_SYMTAB);
  const bool has_all = table != nullptr;
  if (table == nullptr) table = file.FindType(SHT_DYNSYM);
  const uint64_t count = table != nullptr ? table->size / sizeof(Elf64_Sym) : 0;
  const size_t bytes = count * (sizeof(Elf64_Sym) + sizeof(CodeRange));
  if (file.is_32_bit() || count > kMaxFunctionSymbols || section.size > UINT64_MAX - section.address) return {};
  if (!lease->Grow(bytes)) return {};
  std::vector<Elf64_Sym> symbols(count);
  std::vector<CodeRange> functions;
  if (count != 0 && file.memory().Read(table->offset, std::as_writable_bytes(std::span(symbols)))) {
    for (const Elf64_Sym& symbol : symbols) {
      if (!IsCode(symbol, section)) continue;
      const uint64_t room = section.address + section.size - symbol.st_value;
      functions.push_back({symbol.st_value, symbol.st_value + std::min(symbol.st_size, room)});
    }
  }
  Sort(&functions);
  for (size_t i = 0; i < functions.size(); ++i) {
    CodeRange& function = functions[i];
    const uint64_t next = i + 1 < functions.size() ? functions[i + 1].begin : section.address + section.size;
    if (function.end == function.begin && has_all) function.end = next;
    if (function.end > next) function.end = function.begin;
  }
  std::erase_if(functions, [](const CodeRange& function) { return function.begin == function.end; });
  lease->Shrink(bytes);
  return functions;
}

}  // namespace offcpu

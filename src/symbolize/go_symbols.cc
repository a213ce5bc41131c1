#include "symbolize/go_symbols.h"

#include <optional>
#include <string>

#include "process/go_table.h"
#include "process/piecewise_memory.h"
#include "symbolize/symbol_search.h"

namespace offcpu {

ModuleNames SearchGoTable(const Memory& memory, uint64_t bytes, uint64_t text_address,
                          std::span<const uint64_t> addresses) {
  ModuleNames found = {.names = std::vector<std::string>(addresses.size())};
  const std::optional<GoTable> table = GoTable::Open(memory, bytes, text_address);
  if (!table.has_value()) return found;
  NameSource names(memory, 0, bytes, std::string(1, '\0'));
  SymbolSearch search(addresses);
  for (uint64_t i = 0; i < table->functions(); ++i) {
    const std::optional<GoTable::Function> function = table->FunctionAt(i);
    if (!function.has_value()) continue;
    // That it is the table of a Go program shows in what it says.
    found.full = found.full || names.IsName(function->name);
    search.Add({.begin = function->begin,
                .end = function->end,
                .sized = true,
                .key = function->begin,
                .names = &names,
                .name = function->name});
  }
  found.names = search.Names(kMaxModuleNameBytes, &found.left_out);
  return found;
}

ModuleNames ReadGoSymbols(const ElfFile& elf, std::span<const uint64_t> addresses) {
  const ElfSection* section = elf.Find(".gopclntab");
  if (section == nullptr) section = elf.Find(".data.rel.ro.gopclntab");  // of programs that can be loaded anywhere
  const ElfSection* text = elf.Find(".text");
  if (section == nullptr || text == nullptr) return {};
  if (section->size > kMaxGoTableBytes) return {.unread = true};
  const PiecewiseMemory table(elf.memory(), section->offset, section->size);
  return SearchGoTable(table, table.bytes(), text->address, addresses);
}

}  // namespace offcpu

#include "symbolize/go_symbols.h"

#include <optional>
#include <string>

#include "process/go_table.h"
#include "process/memory.h"
#include "symbolize/symbol_search.h"

namespace offcpu {

ModuleNames SearchGoTable(std::string_view bytes, uint64_t text_address, std::span<const uint64_t> addresses) {
  ModuleNames found = {.names = std::vector<std::string>(addresses.size())};
  const std::optional<GoTable> table = GoTable::Open(bytes, text_address);
  if (!table.has_value()) return found;
  const SpanMemory memory(0, std::as_bytes(std::span(bytes)));
  NameSource names(memory, 0, bytes.size(), std::string(1, '\0'));
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
  const absl::StatusOr<std::string> bytes = elf.Read(*section);
  return bytes.ok() ? SearchGoTable(*bytes, text->address, addresses) : ModuleNames();
}

}  // namespace offcpu

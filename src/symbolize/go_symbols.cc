#include "symbolize/go_symbols.h"

#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "process/go_table.h"

namespace offcpu {
namespace {

std::string_view NameAt(std::string_view bytes, uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const std::string_view name = bytes.substr(offset, kMaxSymbolNameBytes);
  return name.substr(0, name.find('\0'));
}

}  // namespace

SymbolTable ParseGoTable(std::string bytes, uint64_t text_address) {
  std::deque<std::string> storage;
  const std::optional<GoTable> table = GoTable::Open(storage.emplace_back(std::move(bytes)), text_address);
  if (!table.has_value()) return {};
  std::vector<Symbol> symbols;
  for (uint64_t i = 0; i < table->functions(); ++i) {
    const std::optional<GoTable::Function> function = table->FunctionAt(i);
    if (!function.has_value()) continue;
    Symbol symbol = {.begin = function->begin, .end = function->end, .sized = true};
    symbol.name = NameAt(table->bytes(), function->name);
    if (!symbol.name.empty()) symbols.push_back(symbol);
  }
  return SymbolTable(std::move(symbols), std::move(storage));
}

SymbolTable ReadGoSymbols(const ElfFile& elf) {
  const ElfSection* section = elf.Find(".gopclntab");
  if (section == nullptr) section = elf.Find(".data.rel.ro.gopclntab");  // of programs that can be loaded anywhere
  const ElfSection* text = elf.Find(".text");
  if (section == nullptr || text == nullptr) return {};
  absl::StatusOr<std::string> bytes = elf.Read(*section);
  return bytes.ok() ? ParseGoTable(*std::move(bytes), text->address) : SymbolTable();
}

}  // namespace offcpu

#include "symbolize/kernel_symbols.h"

#include <charconv>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace offcpu {
namespace {

// "ffffffff81000000 T _text\t[module]" -> symbol. Zero stands for a hidden address.
std::optional<Symbol> ParseLine(std::string_view line) {
  uint64_t address = 0;
  auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), address, 16);
  if (error != std::errc() || address == 0) return std::nullopt;
  line.remove_prefix(static_cast<size_t>(rest - line.data()));
  if (line.size() < 4 || line[0] != ' ' || line[2] != ' ') return std::nullopt;
  char type = line[1];
  if (type != 't' && type != 'T' && type != 'w' && type != 'W') return std::nullopt;
  std::string_view name = line.substr(3, line.find('\t', 3) - 3);
  if (name.empty()) return std::nullopt;
  return Symbol{.begin = address, .end = UINT64_MAX, .sized = false, .rank = type == 't' ? 1 : 0, .name = name};
}

}  // namespace

SymbolTable ParseKallsyms(std::string text) {
  std::deque<std::string> storage;
  std::string_view rest = storage.emplace_back(std::move(text));
  std::vector<Symbol> symbols;
  while (!rest.empty()) {
    size_t end = rest.find('\n');
    if (auto symbol = ParseLine(rest.substr(0, end))) symbols.push_back(*symbol);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return SymbolTable(std::move(symbols), std::move(storage));
}

}  // namespace offcpu

#include "symbolize/perf_map.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace offcpu {
namespace {

// The number at the front of `line`, taken off it with the blank behind it.
std::optional<uint64_t> TakeHex(std::string_view* line) {
  if (line->starts_with("0x")) line->remove_prefix(2);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(line->data(), line->data() + line->size(), number, 16);
  const auto digits = static_cast<size_t>(end - line->data());
  if (error != std::errc() || digits >= line->size() || (*line)[digits] != ' ') return std::nullopt;
  line->remove_prefix(digits + 1);
  return number;
}

std::optional<Symbol> ParseLine(std::string_view line) {
  const std::optional<uint64_t> begin = TakeHex(&line);
  const std::optional<uint64_t> size = begin.has_value() ? TakeHex(&line) : std::nullopt;
  if (!size.has_value() || *size == 0 || *size > UINT64_MAX - *begin || line.empty()) return std::nullopt;
  return Symbol{.begin = *begin, .end = *begin + *size, .sized = true, .name = line.substr(0, kMaxSymbolNameBytes)};
}

// Takes symbols from the latest to the earliest, and of each what no later one covers.
class LatestFirst {
 public:
  // Adds the parts of `symbol` that nothing covers yet.
  void Add(const Symbol& symbol) {
    uint64_t begin = symbol.begin;
    auto next = parts_.upper_bound(begin);
    if (next != parts_.begin()) begin = std::max(begin, std::prev(next)->second.end);
    while (begin < symbol.end) {
      const uint64_t end = next == parts_.end() ? symbol.end : std::min(symbol.end, next->first);
      if (begin < end) {
        Symbol part = symbol;
        part.begin = begin;
        part.end = end;
        parts_.emplace_hint(next, begin, part);
      }
      if (next == parts_.end()) return;
      begin = std::max(begin, next->second.end);
      ++next;
    }
  }

  std::vector<Symbol> Take() {
    std::vector<Symbol> symbols;
    symbols.reserve(parts_.size());
    for (const auto& [begin, part] : parts_) symbols.push_back(part);
    return symbols;
  }

 private:
  std::map<uint64_t, Symbol> parts_;  // by begin
};

}  // namespace

SymbolTable ParsePerfMap(std::string text) {
  std::deque<std::string> storage;
  std::string_view rest = storage.emplace_back(std::move(text));
  // The last line may not be whole yet.
  rest = rest.substr(0, rest.rfind('\n') == std::string_view::npos ? 0 : rest.rfind('\n'));
  LatestFirst symbols;
  while (!rest.empty()) {
    const size_t newline = rest.rfind('\n');
    const std::string_view line = newline == std::string_view::npos ? rest : rest.substr(newline + 1);
    if (const std::optional<Symbol> symbol = ParseLine(line)) symbols.Add(*symbol);
    rest = newline == std::string_view::npos ? std::string_view() : rest.substr(0, newline);
  }
  return SymbolTable(symbols.Take(), std::move(storage));
}

}  // namespace offcpu

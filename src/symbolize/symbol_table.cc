#include "symbolize/symbol_table.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace offcpu {
namespace {

bool Better(const Symbol& a, const Symbol& b) {
  if (a.rank != b.rank) return a.rank < b.rank;
  auto underscores = [](std::string_view name) { return std::min(name.find_first_not_of('_'), name.size()); };
  return std::tuple(underscores(a.name), a.name.size(), a.name) <
         std::tuple(underscores(b.name), b.name.size(), b.name);
}

// Leaves the best symbol of each address, in order of address.
void KeepBest(std::vector<Symbol>& symbols) {
  std::sort(symbols.begin(), symbols.end(), [](const Symbol& a, const Symbol& b) { return a.begin < b.begin; });
  size_t kept = 0;
  for (const Symbol& symbol : symbols) {
    if (kept == 0 || symbols[kept - 1].begin != symbol.begin) {
      symbols[kept++] = symbol;
    } else if (Better(symbol, symbols[kept - 1])) {
      symbols[kept - 1] = symbol;
    }
  }
  symbols.resize(kept);
}

// A symbol without a size inside one that has a size is a label. Needs symbols in order of address.
void DropLabels(std::vector<Symbol>& symbols) {
  uint64_t reach = 0;
  std::erase_if(symbols, [&](const Symbol& symbol) {
    if (symbol.sized) reach = std::max(reach, symbol.end);
    return !symbol.sized && symbol.begin < reach;
  });
}

}  // namespace

SymbolTable::SymbolTable(std::vector<Symbol> symbols, std::deque<std::string> storage) : storage_(std::move(storage)) {
  KeepBest(symbols);
  DropLabels(symbols);
  for (size_t i = 0; i + 1 < symbols.size(); ++i) {
    if (!symbols[i].sized) symbols[i].end = std::min(symbols[i].end, symbols[i + 1].begin);
  }
  Flatten(symbols);
}

void SymbolTable::AddRange(uint64_t begin, uint64_t end, const Symbol& symbol) {
  if (begin < end) ranges_.push_back({begin, end, symbol.name});
}

void SymbolTable::Flatten(const std::vector<Symbol>& symbols) {
  std::vector<const Symbol*> open;  // the last one began last
  uint64_t done = 0;                // what lies below is in ranges_ already; never less than any open begin
  auto close_until = [&](uint64_t address) {
    while (!open.empty() && open.back()->end <= address) {
      AddRange(done, open.back()->end, *open.back());
      done = std::max(done, open.back()->end);
      open.pop_back();
    }
  };
  for (const Symbol& symbol : symbols) {
    close_until(symbol.begin);
    if (!open.empty()) AddRange(done, symbol.begin, *open.back());
    done = symbol.begin;
    open.push_back(&symbol);
  }
  close_until(UINT64_MAX);
  ranges_.shrink_to_fit();
}

std::optional<std::string_view> SymbolTable::Find(uint64_t address) const {
  auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                [](uint64_t wanted, const Range& range) { return wanted < range.begin; });
  if (after == ranges_.begin() || address >= std::prev(after)->end) return std::nullopt;
  return std::prev(after)->name;
}

}  // namespace offcpu

#include "symbolize/symbol_search.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace offcpu {
namespace {

// Fewer underscores in front, then shorter, then first.
bool IsBetterName(std::string_view a, std::string_view b) {
  const auto underscores = [](std::string_view name) { return std::min(name.find_first_not_of('_'), name.size()); };
  return std::tuple(underscores(a), a.size(), a) < std::tuple(underscores(b), b.size(), b);
}

std::string NameOf(const SymbolRange& symbol) { return symbol.names->At(symbol.name); }

}  // namespace

// A piece around what is asked for: names of neighbours are neighbours in most files.
bool NameSource::Load(uint64_t offset) {
  constexpr uint64_t kPiece = 4096;
  if (offset >= piece_at_ && offset - piece_at_ < piece_.size()) return true;
  piece_at_ = offset / kPiece * kPiece;
  piece_.resize(std::min(kPiece, bytes_ - piece_at_));
  if (memory_.Read(begin_ + piece_at_, std::as_writable_bytes(std::span(piece_)))) return true;
  piece_.clear();
  return false;
}

bool NameSource::IsName(uint64_t offset) {
  const std::string begin = At(offset, not_with_.empty() ? 1 : not_with_.front().size());
  return !begin.empty() && std::find(not_with_.begin(), not_with_.end(), begin) == not_with_.end();
}

std::string NameSource::At(uint64_t offset, size_t max_bytes) {
  std::string name;
  while (offset < bytes_ && name.size() < max_bytes && Load(offset)) {
    const std::string_view rest = std::string_view(piece_).substr(offset - piece_at_, max_bytes - name.size());
    size_t end = std::string_view::npos;
    for (const char c : ends_) end = std::min(end, rest.find(c));
    name += rest.substr(0, end);
    if (end != std::string_view::npos) break;
    offset += rest.size();
  }
  return name;
}

SymbolSearch::SymbolSearch(std::span<const uint64_t> addresses)
    : addresses_(addresses.begin(), addresses.end()), tree_(2 * addresses.size()), slots_(addresses.size()) {}

// The first address that is not below.
size_t SymbolSearch::IndexOf(uint64_t address) const {
  return static_cast<size_t>(std::lower_bound(addresses_.begin(), addresses_.end(), address) - addresses_.begin());
}

bool SymbolSearch::IsBetter(const SymbolRange& a, const SymbolRange& b) {
  if (a.key != b.key) return a.key > b.key;
  if (a.rank != b.rank) return a.rank < b.rank;
  return ++comparisons_ <= kMaxComparisons && IsBetterName(NameOf(a), NameOf(b));
}

void SymbolSearch::Offer(const SymbolRange& symbol, Candidate* place) {
  if (place->is_set && !IsBetter(symbol, place->symbol)) return;
  if (symbol.names->IsName(symbol.name)) *place = {.symbol = symbol, .is_set = true};
}

void SymbolSearch::Add(const SymbolRange& symbol) {
  const size_t first = IndexOf(symbol.begin);
  if (first == addresses_.size()) return;
  Slot& slot = slots_[first];
  if (!symbol.sized) return Offer(symbol, &slot.unsized);
  slot.has_sized = true;
  slot.sized_begin = std::max(slot.sized_begin, symbol.begin);
  slot.sized_end = std::max(slot.sized_end, symbol.end);
  const size_t count = addresses_.size();
  for (size_t l = first + count, r = IndexOf(symbol.end) + count; l < r; l /= 2, r /= 2) {
    if (l % 2 != 0) Offer(symbol, &tree_[l++]);
    if (r % 2 != 0) Offer(symbol, &tree_[--r]);
  }
}

void SymbolSearch::AddBound(uint64_t begin) {
  const size_t first = IndexOf(begin);
  if (first != addresses_.size()) slots_[first].bound = std::max(slots_[first].bound, begin);
}

const SymbolRange* SymbolSearch::Covering(size_t index) {
  const SymbolRange* best = nullptr;
  for (size_t node = index + addresses_.size(); node != 0; node /= 2) {
    const Candidate& other = tree_[node];
    if (other.is_set && (best == nullptr || IsBetter(other.symbol, *best))) best = &other.symbol;
  }
  return best;
}

std::vector<std::string> SymbolSearch::Names(size_t max_bytes, uint64_t* left_out) {
  std::vector<std::string> names(addresses_.size());
  Slot below;
  for (size_t i = 0; i < addresses_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.unsized.is_set) below.unsized = slot.unsized;
    below.has_sized |= slot.has_sized;
    below.sized_begin = std::max(below.sized_begin, slot.sized_begin);
    below.sized_end = std::max(below.sized_end, slot.sized_end);
    below.bound = std::max(below.bound, slot.bound);
    const SymbolRange* found = Covering(i);
    const SymbolRange& label = below.unsized.symbol;
    const bool is_own = below.unsized.is_set && addresses_[i] < label.end && label.begin >= below.bound &&
                        (!below.has_sized || (label.begin > below.sized_begin && label.begin >= below.sized_end));
    if (found == nullptr && is_own && (!reaches_ || reaches_(label.begin, addresses_[i]))) found = &label;
    if (found == nullptr) continue;
    std::string name = NameOf(*found);
    if (name.size() > max_bytes) {
      ++*left_out;
      continue;
    }
    max_bytes -= name.size();
    names[i] = std::move(name);
  }
  return names;
}

}  // namespace offcpu

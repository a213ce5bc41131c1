// Finds the name of the function of the kernel that covers an address; files are searched by symbol_search.h. Made once
// from symbols in any order, then never changed; safe to read from any thread. Does not know where the symbols come
// from, and does not demangle.
//
// Where symbols overlap, the one that begins last wins; one without a size loses against one with. Among those that
// begin at one address only the best by rank stays, then the one with the fewest leading underscores, then the
// shortest, then the first in byte order: "read" rather than "__read" or "__libc_read".
#ifndef OFFCPU_SYMBOLIZE_SYMBOL_TABLE_H_
#define OFFCPU_SYMBOLIZE_SYMBOL_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace offcpu {

// A longer name is cut: real ones are, and it must not be for free to make a reader scan megabytes for each.
inline constexpr size_t kMaxSymbolNameBytes = 8192;

struct Symbol {
  uint64_t begin = 0;
  uint64_t end = 0;    // one past its last byte
  bool sized = false;  // false: `end` is only a limit, and the symbol ends where the next one begins
  int rank = 0;        // lower is better
  std::string_view name;
};

class SymbolTable {
 public:
  SymbolTable() = default;
  // `storage` owns the bytes that the names point into: symbol names may share them, so none is copied.
  SymbolTable(std::vector<Symbol> symbols, std::deque<std::string> storage);
  SymbolTable(SymbolTable&&) = default;
  SymbolTable& operator=(SymbolTable&&) = default;

  std::optional<std::string_view> Find(uint64_t address) const;
  bool empty() const { return ranges_.empty(); }

 private:
  struct Range {
    uint64_t begin;
    uint64_t end;
    std::string_view name;
  };

  void AddRange(uint64_t begin, uint64_t end, const Symbol& symbol);
  // Cuts overlapping symbols into disjoint ranges; `symbols` sorted by begin, at most one for each.
  void Flatten(const std::vector<Symbol>& symbols);

  std::deque<std::string> storage_;
  std::vector<Range> ranges_;  // disjoint, ascending
};

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_SYMBOL_TABLE_H_

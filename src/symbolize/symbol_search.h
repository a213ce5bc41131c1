// Finds the names of a few addresses among any number of symbols, which come in any order and are not kept: what this
// holds grows with the addresses. One thread.
//
// Among the symbols that cover an address the one with the highest key wins, which is its begin, so that the one that
// begins last wins; then the best by rank, then the one with the fewest leading underscores, then the shortest, then
// the first in byte order: "read" rather than "__read" or "__libc_read". Names are compared kMaxComparisons times at
// most; then the first one stays. A symbol without a size ends where the next one begins, loses against one that has a
// size, and is a label, and nothing, inside of such a one.
#ifndef OFFCPU_SYMBOLIZE_SYMBOL_SEARCH_H_
#define OFFCPU_SYMBOLIZE_SYMBOL_SEARCH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "process/memory.h"
#include "symbolize/symbol_table.h"

namespace offcpu {

// Names in a piece of a file, of which only those are read that are asked for.
class NameSource {
 public:
  // `memory` must outlive it. A name goes on to the first of `ends`, or to the end of [begin, begin + bytes). One that
  // begins with one of `not_with`, which are of one length, is none.
  NameSource(const Memory& memory, uint64_t begin, uint64_t bytes, std::string ends,
             std::vector<std::string> not_with = {})
      : memory_(memory), begin_(begin), bytes_(bytes), ends_(std::move(ends)), not_with_(std::move(not_with)) {}
  // Empty if there is none; cut at kMaxSymbolNameBytes.
  std::string At(uint64_t offset, size_t max_bytes = kMaxSymbolNameBytes);
  bool IsName(uint64_t offset);

 private:
  bool Load(uint64_t offset);

  const Memory& memory_;
  const uint64_t begin_;
  const uint64_t bytes_;
  const std::string ends_;
  const std::vector<std::string> not_with_;
  uint64_t piece_at_ = 0;
  std::string piece_;
};

struct SymbolRange {
  uint64_t begin = 0;
  uint64_t end = 0;    // one past its last byte
  bool sized = false;  // false: `end` is only a limit
  int rank = 0;        // lower is better
  uint64_t key = 0;
  NameSource* names = nullptr;
  uint64_t name = 0;  // where it is in `names`
};

class SymbolSearch {
 public:
  static constexpr uint32_t kMaxComparisons = 1 << 13;

  // Sorted, each once.
  explicit SymbolSearch(std::span<const uint64_t> addresses);

  // The names must outlive this.
  void Add(const SymbolRange& symbol);
  // Something begins there that has no name to show: a symbol without a size ends there, too.
  void AddBound(uint64_t begin);
  // Asked of a symbol without a size, before it gets an address: does it reach so far?
  using Reaches = std::function<bool(uint64_t begin, uint64_t address)>;
  void LimitUnsized(Reaches reaches) { reaches_ = std::move(reaches); }

  // Parallel to the addresses: the names, empty where there is none. As many as have room in `max_bytes`; the others
  // are counted in `*left_out`.
  std::vector<std::string> Names(size_t max_bytes, uint64_t* left_out);

 private:
  struct Candidate {
    SymbolRange symbol;
    bool is_set = false;
  };
  // What is known of symbols that begin behind the address before, and not behind this one.
  struct Slot {
    Candidate unsized;         // the best of those that begin last
    uint64_t sized_begin = 0;  // the highest of those with a size
    uint64_t sized_end = 0;    // likewise
    bool has_sized = false;
    uint64_t bound = 0;  // the highest of what has no name
  };

  size_t IndexOf(uint64_t address) const;
  bool IsBetter(const SymbolRange& a, const SymbolRange& b);
  void Offer(const SymbolRange& symbol, Candidate* place);
  // The sized symbol that wins; null: none covers the address.
  const SymbolRange* Covering(size_t index);

  std::vector<uint64_t> addresses_;
  std::vector<Candidate> tree_;  // 2n nodes: what covers all addresses below a node, and is the best there
  std::vector<Slot> slots_;
  Reaches reaches_;
  uint32_t comparisons_ = 0;
};

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_SYMBOL_SEARCH_H_

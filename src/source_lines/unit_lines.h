// Finds the chains of functions of all addresses in one unit of debug information at once, in one walk over its
// entries. For confined code, as dwarf_lines.h.
#ifndef OFFCPU_SOURCE_LINES_UNIT_LINES_H_
#define OFFCPU_SOURCE_LINES_UNIT_LINES_H_

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "source_lines/line_chain.h"

struct Dwarf;  // of libdw

namespace offcpu {

// Is that a range of code? What a linker has thrown away begins at 0, or is [1, 1).
inline bool IsLinked(uint64_t begin, uint64_t end) { return begin > 1 && begin < end; }

// How many entries and ranges may still be looked at.
class EntryBudget {
 public:
  explicit EntryBudget(uint64_t entries) : left_(entries) {}

  bool Take() {
    is_exceeded_ |= left_ == 0;
    if (left_ != 0) --left_;
    return !is_exceeded_;
  }
  bool is_exceeded() const { return is_exceeded_; }

 private:
  uint64_t left_;
  bool is_exceeded_ = false;
};

struct UnitLines {
  std::vector<LineChain> chains;  // parallel to the addresses
  // The functions are in a split unit, a .dwo file or a part of a .dwp file, that libdw does not find or does not read:
  // only the places are known.
  bool is_without_split = false;
};

// `unit`: where its first entry is in `dwarf`. `addresses`: sorted. The views of the result point into `dwarf` and into
// `paths`, to which it adds.
UnitLines FindInUnit(Dwarf* dwarf, uint64_t unit, std::span<const uint64_t> addresses, EntryBudget& budget,
                     std::set<std::string, std::less<>>& paths);

}  // namespace offcpu

#endif  // OFFCPU_SOURCE_LINES_UNIT_LINES_H_

// The head of a table: the items that cost most. A pure function.
#ifndef OFFCPU_TABLES_KEEP_MOST_H_
#define OFFCPU_TABLES_KEEP_MOST_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace offcpu {

// Those with the most, the most first; of equals, the first in the profile. `amount` tells how much one has.
template <typename T, typename Amount>
void KeepMost(std::vector<T>& items, size_t limit, Amount amount) {
  std::stable_sort(items.begin(), items.end(), [&](const T& a, const T& b) { return amount(a) > amount(b); });
  if (items.size() > limit) items.resize(limit);
}

}  // namespace offcpu

#endif  // OFFCPU_TABLES_KEEP_MOST_H_

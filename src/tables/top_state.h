// What the user of `offcpu top` has chosen, and what a key changes of it. Pure functions: no terminal, no time.
#ifndef OFFCPU_TABLES_TOP_STATE_H_
#define OFFCPU_TABLES_TOP_STATE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "labels/row_value.h"
#include "tables/top_keys.h"
#include "tables/top_table.h"

namespace offcpu {

struct TopState {
  RowValue value = RowValue::kOffCpu;  // that all is sorted by
  std::string filter;                  // a part of a name, whatever its case
  bool is_typing = false;              // the filter
  bool is_paused = false;
  bool shows_keys = false;  // in place of the tables
  bool in_stacks = false;   // the keys move there, else in the processes
  // What is selected stays so while it is not in the table: it may be back in the next one.
  std::optional<TopProcess> process;  // only its stacks are shown
  std::optional<TopStack> stack;
};

// What of a whole table passes the filter, sorted. With a filter, what a process costs is what those of its stacks cost
// that pass. Sums over everything are left as they are.
TopTable ShownOf(const TopTable& all, const TopState& state);

// Indices into the table's stacks: those of the selected process, or all.
std::vector<size_t> StacksOf(const TopTable& shown, const TopState& state);

bool IsSame(const TopProcess& a, const TopProcess& b);
bool IsSame(const TopStack& a, const TopStack& b);

enum class TopAction {
  kNone,
  kDraw,    // the selection, or what is typed
  kSelect,  // ShownOf is another one now
  kPause,   // or go on
  kQuit,
};

// `shown` is what the user sees.
TopAction Press(const TopKey& key, const TopTable& shown, TopState* state);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_TOP_STATE_H_

// What `offcpu top` shows, as lines of text: who recorded what, the processes, then the costliest stacks, one line
// each. All figures are per second, so that intervals of any length compare. Pure functions; no escape sequences.
#ifndef OFFCPU_TABLES_TOP_SCREEN_H_
#define OFFCPU_TABLES_TOP_SCREEN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tables/columns.h"
#include "tables/top_table.h"

namespace offcpu {

struct TopScreenOptions {
  std::string time_of_day;             // of the refresh
  std::string recorder;                // who recorded it
  RowValue value = RowValue::kOffCpu;  // that the stacks are sorted by
  size_t columns = kNoLimit;
  size_t lines = kNoLimit;
};

// As many lines as there are, at most `lines`; none has more characters than `columns`. Room that the one table does
// not need is the other's.
std::vector<std::string> TopScreen(const TopTable& table, const TopScreenOptions& options);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_TOP_SCREEN_H_

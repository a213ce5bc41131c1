// What `offcpu top` shows on a screen: the head, the processes with bars and what they have cost before, their
// costliest stacks, one line each, and all of the stack of what is selected. A pure function; no escape sequences.
#ifndef OFFCPU_TABLES_TOP_SCREEN_H_
#define OFFCPU_TABLES_TOP_SCREEN_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tables/styled_line.h"
#include "tables/top_history.h"
#include "tables/top_state.h"
#include "tables/top_table.h"

namespace offcpu {

struct TopScreenOptions {
  std::string time_of_day;  // of the refresh
  std::string recorder;     // who recorded it
  size_t columns = 80;
  size_t lines = 24;
  bool has_blocks = true;  // the terminal has characters that are blocks; else bars are of ASCII
};

// `shown` is ShownOf a table, `state` what it was asked for with. No more lines than there are, and none with more
// characters than `columns`. Room that one part does not need is another's.
std::vector<StyledLine> TopScreen(const TopTable& shown, const TopState& state, const TopHistory& history,
                                  const TopScreenOptions& options);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_TOP_SCREEN_H_

// What `offcpu top` shows as lines of plain text: who recorded what, the processes, then the costliest stacks, one line
// each. Pure functions.
#ifndef OFFCPU_TABLES_TOP_TEXT_H_
#define OFFCPU_TABLES_TOP_TEXT_H_

#include <string>
#include <vector>

#include "labels/row_value.h"
#include "tables/top_table.h"

namespace offcpu {

// `time_of_day`: of the refresh. `value`: that the stacks are sorted by.
std::vector<std::string> TopText(const TopTable& table, const std::string& time_of_day, const std::string& recorder,
                                 RowValue value);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_TOP_TEXT_H_

// Text for a terminal, folded between words so that its lines have no more than a number of columns.
#ifndef OFFCPU_CMD_OFFCPU_FIT_COLUMNS_H_
#define OFFCPU_CMD_OFFCPU_FIT_COLUMNS_H_

#include <cstddef>
#include <string>

namespace offcpu {

// In a line of several columns, as in "-p PID   Record it", the last one is folded, below where it begins; if that is
// far to the right, below the line. A column begins behind two spaces. Longer words stay whole. Of ASCII.
std::string FitColumns(const std::string& text, size_t columns);

}  // namespace offcpu

#endif  // OFFCPU_CMD_OFFCPU_FIT_COLUMNS_H_

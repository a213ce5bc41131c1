// A stack on one line, to be read at a glance: "WriteLog < HandleRequest < RunWorker | do_nanosleep". Pure functions.
#ifndef OFFCPU_TABLES_STACK_LINE_H_
#define OFFCPU_TABLES_STACK_LINE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace offcpu {

inline constexpr size_t kCauseColumns = 12;  // of the cause that stands before such a line

// The name of a function, without what says little.
std::string ShortFrameName(const std::string& name, size_t columns);

// As many of `frames`, the innermost one first, as there is room for. Behind them the function of the kernel that was
// waited in, if it is not empty and there is room for both.
std::string StackLine(const std::vector<std::string>& frames, const std::string& waits_in, size_t columns);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_STACK_LINE_H_

// Which names in a perf map are those of functions that a runtime interprets. A pure function.
#ifndef OFFCPU_CLASSIFY_INTERPRETED_H_
#define OFFCPU_CLASSIFY_INTERPRETED_H_

#include <string_view>

namespace offcpu {

// Python's trampolines lead to one interpreted function each, V8 marks those that it has not compiled, and Java has one
// name for its whole interpreter.
bool IsInterpretedName(std::string_view name);

}  // namespace offcpu

#endif  // OFFCPU_CLASSIFY_INTERPRETED_H_

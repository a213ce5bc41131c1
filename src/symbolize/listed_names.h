// Names from the functions that a runtime's own table lists (runtimes/function_list.h).
#ifndef OFFCPU_SYMBOLIZE_LISTED_NAMES_H_
#define OFFCPU_SYMBOLIZE_LISTED_NAMES_H_

#include <cstdint>
#include <span>

#include "runtimes/function_list.h"
#include "symbolize/module_names.h"

namespace offcpu {

// `addresses`: as those of `functions`; sorted, each once. `full` if any function has a name: that shows that the table
// is what it seems to be. Null: no names.
ModuleNames NamesFrom(const FunctionList* functions, std::span<const uint64_t> addresses);

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_LISTED_NAMES_H_

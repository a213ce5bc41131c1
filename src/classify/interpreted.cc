#include "classify/interpreted.h"

#include <algorithm>
#include <iterator>

namespace offcpu {

bool IsInterpretedName(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {"py::", "JS:~", "LazyCompile:~", "Function:~"};
  const auto is_prefix = [name](std::string_view prefix) { return name.starts_with(prefix); };
  return name == "Interpreter" || std::any_of(std::begin(kPrefixes), std::end(kPrefixes), is_prefix);
}

}  // namespace offcpu

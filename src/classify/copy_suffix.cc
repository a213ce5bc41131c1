#include "classify/copy_suffix.h"

#include <cstddef>

namespace offcpu {

std::string_view WithoutCopySuffix(std::string_view name) {
  for (bool is_found = true; is_found;) {
    is_found = false;
    for (const std::string_view suffix : {".constprop", ".isra", ".part", ".lto_priv", ".cold", ".llvm"}) {
      const size_t digits = name.find_last_not_of("0123456789") + 1;
      const bool has_number = digits < name.size() && name.substr(0, digits).ends_with('.');
      const std::string_view stem = has_number ? name.substr(0, digits - 1) : name;
      if (!stem.ends_with(suffix)) continue;
      name = stem.substr(0, stem.size() - suffix.size());
      is_found = true;
    }
  }
  return name;
}

}  // namespace offcpu

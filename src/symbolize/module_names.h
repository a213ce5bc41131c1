// Names that were found for addresses of one module, bounded in bytes. Plain data.
#ifndef OFFCPU_SYMBOLIZE_MODULE_NAMES_H_
#define OFFCPU_SYMBOLIZE_MODULE_NAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace offcpu {

inline constexpr size_t kMaxModuleNameBytes = 8u << 20;  // of all that are found at once

struct ModuleNames {
  std::vector<std::string> names;  // parallel to the addresses; empty: none
  uint64_t left_out = 0;           // that there was no room for
  // They come from a whole table of the functions: another file would add nothing.
  bool full = false;
  // A file could not be read, or has a larger table than is searched.
  bool unread = false;
};

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_MODULE_NAMES_H_

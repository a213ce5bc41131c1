// The memory map of a process as /proc/PID/maps tells it. A pure function of the text; safe from any thread. Does not
// read the file, and does not judge what the mappings mean: see address_space.h.
#ifndef OFFCPU_PROCESS_MAPS_H_
#define OFFCPU_PROCESS_MAPS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace offcpu {

struct Mapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t offset = 0;  // in the file, of `begin`
  bool readable = false;
  bool writable = false;
  bool executable = false;
  bool shared = false;
  uint32_t dev_major = 0;
  uint32_t dev_minor = 0;
  uint64_t inode = 0;    // 0: no file
  std::string path;      // without " (deleted)"; "[vdso]" and the like where there is no file
  bool deleted = false;  // a label: a file's own name may end like that, too

  bool operator==(const Mapping&) const = default;
};

// More lines than the kernel allows by default by a factor of 16.
inline constexpr size_t kMaxMappings = 1 << 20;

// The kernel writes whole, sorted lines; text in which one is malformed or out of order, or with more than kMaxMappings
// lines, is refused as a whole. A last line without its newline counts.
absl::StatusOr<std::vector<Mapping>> ParseMaps(std::string_view text);

}  // namespace offcpu

#endif  // OFFCPU_PROCESS_MAPS_H_

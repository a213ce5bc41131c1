// Holds each name and each line of nothing but a name once, up to a limit in bytes. One thread.
#ifndef OFFCPU_SYMBOLIZE_NAME_POOL_H_
#define OFFCPU_SYMBOLIZE_NAME_POOL_H_

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "profile/named_profile.h"

namespace offcpu {

class NamePool {
 public:
  // `names` is what the views point into, and must outlive the pool.
  NamePool(NameStore& names, size_t max_bytes) : names_(names), max_bytes_(max_bytes) {}

  // `name`, or `coarse` where there is no room for a new name. Coarse names are few and always find room.
  std::string_view Intern(std::string_view name, std::string_view coarse);
  // The same as the only line of a frame.
  std::span<const FrameLine> InternLine(std::string_view name, std::string_view coarse);
  // The lines of a frame, whose texts are in the pool.
  std::span<const FrameLine> AddLines(std::vector<FrameLine> lines) { return names_.Add(std::move(lines)); }

 private:
  std::string_view Add(std::string_view name);

  NameStore& names_;
  size_t max_bytes_;
  size_t bytes_ = 0;
  absl::flat_hash_set<std::string_view> index_;
  absl::flat_hash_map<const char*, std::span<const FrameLine>> lines_;  // by the name that is held
};

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_NAME_POOL_H_

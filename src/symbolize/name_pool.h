// Holds each string once, at an address that does not change, up to a limit in bytes. One thread.
#ifndef OFFCPU_SYMBOLIZE_NAME_POOL_H_
#define OFFCPU_SYMBOLIZE_NAME_POOL_H_

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"

namespace offcpu {

class NamePool {
 public:
  // `strings` is what the views point into, and must outlive the pool.
  NamePool(std::deque<std::string>& strings, size_t max_bytes) : strings_(strings), max_bytes_(max_bytes) {}

  // `name`, or `coarse` where there is no room for a new name. Coarse names are few and always find room.
  std::string_view Intern(std::string_view name, std::string_view coarse);

 private:
  std::string_view Add(std::string_view name);

  std::deque<std::string>& strings_;
  size_t max_bytes_;
  size_t bytes_ = 0;
  absl::flat_hash_set<std::string_view> index_;
};

}  // namespace offcpu

#endif  // OFFCPU_SYMBOLIZE_NAME_POOL_H_

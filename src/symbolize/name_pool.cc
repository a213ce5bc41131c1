#include "symbolize/name_pool.h"

namespace offcpu {

std::string_view NamePool::Intern(std::string_view name, std::string_view coarse) {
  auto it = index_.find(name);
  if (it != index_.end()) return *it;
  if (name.size() <= max_bytes_ - bytes_) {
    bytes_ += name.size();
    return Add(name);
  }
  it = index_.find(coarse);
  return it != index_.end() ? *it : Add(coarse);
}

std::string_view NamePool::Add(std::string_view name) { return *index_.insert(strings_.emplace_back(name)).first; }

}  // namespace offcpu

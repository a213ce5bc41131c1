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

std::span<const FrameLine> NamePool::InternLine(std::string_view name, std::string_view coarse) {
  const std::string_view held = Intern(name, coarse);
  const auto [it, inserted] = lines_.try_emplace(held.data());
  if (inserted) it->second = names_.AddLine(held);
  return it->second;
}

std::string_view NamePool::Add(std::string_view name) { return *index_.insert(names_.Add(name)).first; }

}  // namespace offcpu

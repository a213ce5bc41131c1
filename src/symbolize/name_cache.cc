#include "symbolize/name_cache.h"

#include <utility>

namespace offcpu {
namespace {

size_t BytesOf(const std::string& name) {
  constexpr size_t kEntry = sizeof(uint64_t) + sizeof(CachedName) + 16;  // with the room that hash tables leave
  return kEntry + (name.capacity() > std::string().capacity() ? name.capacity() : 0);
}

}  // namespace

const CachedName* NameCache::Find(const CodeObject& code, uint64_t address) const {
  const auto names = code_.find(&code);
  if (names == code_.end()) return nullptr;
  const auto name = names->second.names.find(address);
  return name != names->second.names.end() ? &name->second : nullptr;
}

const std::string* NameCache::FindKernel(uint64_t address) const {
  const auto name = kernel_.find(address);
  return name != kernel_.end() ? &name->second : nullptr;
}

void NameCache::Add(const std::shared_ptr<const CodeObject>& code, uint64_t address, const CachedName& name) {
  if (code->kind() == CodeKind::kPerfMap) return;
  const size_t bytes = BytesOf(name.name);
  Grow(bytes);
  CodeNames& names = code_[code.get()];
  names.code = code;
  if (names.names.try_emplace(address, name).second) {
    names.bytes += bytes;
  } else {
    bytes_ -= bytes;
  }
}

void NameCache::AddKernel(uint64_t address, const std::string& name) {
  if (name.starts_with("bpf_")) return;  // programs come and go, and /proc/modules does not tell
  const size_t bytes = BytesOf(name);
  Grow(bytes);
  if (kernel_.try_emplace(address, name).second) {
    kernel_bytes_ += bytes;
  } else {
    bytes_ -= bytes;
  }
}

void NameCache::Grow(size_t bytes) {
  bytes_ += bytes;
  if (bytes_ <= max_bytes_) return;
  code_.clear();
  kernel_.clear();
  kernel_bytes_ = 0;
  bytes_ = bytes;
}

void NameCache::Begin(const std::string& kernel_modules) {
  absl::erase_if(code_, [this](const auto& entry) {
    const bool is_gone = entry.second.code.expired();
    if (is_gone) bytes_ -= entry.second.bytes;
    return is_gone;
  });
  if (kernel_modules == kernel_modules_) return;
  kernel_modules_ = kernel_modules;
  kernel_.clear();
  bytes_ -= std::exchange(kernel_bytes_, 0);
}

}  // namespace offcpu

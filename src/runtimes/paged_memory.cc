#include "runtimes/paged_memory.h"

#include <algorithm>
#include <cstring>

namespace offcpu {
namespace {

constexpr uint64_t kPageBytes = 4096;

}  // namespace

const std::vector<std::byte>* PagedMemory::PageAt(uint64_t begin) const {
  const auto known = pages_.find(begin);
  if (known != pages_.end()) return known->second.empty() ? nullptr : &known->second;
  is_spent_ |= pages_.size() >= limits_.pages;
  if (is_spent_) return nullptr;
  std::vector<std::byte> page(kPageBytes);
  if (!memory_.Read(begin, page)) page.clear();
  const std::vector<std::byte>& kept = pages_.emplace(begin, std::move(page)).first->second;
  return kept.empty() ? nullptr : &kept;
}

bool PagedMemory::Read(uint64_t address, std::span<std::byte> out) const {
  if (address > UINT64_MAX - out.size()) return false;
  const size_t cost = 1 + out.size() / kBytesOfRead;
  is_spent_ |= cost > limits_.reads - reads_;
  if (is_spent_) return false;
  reads_ += cost;
  while (!out.empty()) {
    const uint64_t offset = address % kPageBytes;
    const std::vector<std::byte>* page = PageAt(address - offset);
    if (page == nullptr) return false;
    const size_t bytes = std::min<size_t>(out.size(), kPageBytes - offset);
    std::memcpy(out.data(), page->data() + offset, bytes);
    out = out.subspan(bytes);
    address += bytes;
  }
  return true;
}

}  // namespace offcpu

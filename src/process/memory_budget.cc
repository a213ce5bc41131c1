#include "process/memory_budget.h"

#include <algorithm>
#include <utility>

namespace offcpu {

bool MemoryBudget::Take(uid_t owner, size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(owner);
  const size_t held = found != held_.end() ? found->second : 0;
  const size_t left = limit_ - std::min(limit_, bytes_);
  if (bytes > left || (held + bytes) / kShare > left - bytes) {
    ++refused_;
    return false;
  }
  held_[owner] = held + bytes;
  bytes_ += bytes;
  return true;
}

void MemoryBudget::GiveBack(uid_t owner, size_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes_ -= bytes;
  const auto held = held_.find(owner);
  held->second -= bytes;
  if (held->second == 0) held_.erase(held);
}

void MemoryBudget::SetLimit(size_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
}

MemoryBudgetStats MemoryBudget::stats() const {
  const std::lock_guard lock(mutex_);
  MemoryBudgetStats stats = {.bytes = bytes_, .limit = limit_, .refused = refused_};
  for (const auto& [owner, bytes] : held_) {
    if (bytes <= stats.dearest_bytes) continue;
    stats.dearest = owner;
    stats.dearest_bytes = bytes;
  }
  return stats;
}

MemoryLease::MemoryLease(MemoryLease&& other) noexcept
    : budget_(std::move(other.budget_)), owner_(other.owner_), bytes_(std::exchange(other.bytes_, 0)) {}

MemoryLease& MemoryLease::operator=(MemoryLease&& other) noexcept {
  if (this == &other) return *this;
  Shrink(bytes_);
  budget_ = std::move(other.budget_);
  owner_ = other.owner_;
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

bool MemoryLease::Grow(size_t bytes) {
  if (bytes == 0) return true;
  if (budget_ != nullptr && !budget_->Take(owner_, bytes)) return false;
  bytes_ += bytes;
  return true;
}

void MemoryLease::Shrink(size_t bytes) {
  if (bytes == 0) return;
  bytes_ -= bytes;
  if (budget_ != nullptr) budget_->GiveBack(owner_, bytes);
}

}  // namespace offcpu

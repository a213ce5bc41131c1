#include "profile/kernel_stacks.h"

namespace offcpu {

bool KernelStacks::Define(uint64_t id, std::vector<uint64_t> frames) {
  if (IsVoid(id)) return false;
  const auto known = stacks_.find(id);
  if (known != stacks_.end()) {
    if (known->second.frames == frames) return true;
    Void(id);
    return false;
  }
  if (stacks_.size() >= max_stacks_) EvictOne();
  stacks_.emplace(id, Stack{.frames = std::move(frames)});
  order_.push_back(id);
  return true;
}

// `order_` still has it.
void KernelStacks::Void(uint64_t id) {
  if (IsVoid(id)) return;
  ++conflicts_;
  void_.Add(id);
  stacks_.erase(id);
}

const std::vector<uint64_t>* KernelStacks::Find(uint64_t id) {
  const auto found = stacks_.find(id);
  if (found == stacks_.end()) return nullptr;
  found->second.used = true;
  return &found->second.frames;
}

// Ends: each one that is passed over is not `used` any more.
void KernelStacks::EvictOne() {
  while (!order_.empty()) {
    const uint64_t id = order_.front();
    order_.pop_front();
    const auto found = stacks_.find(id);
    if (found == stacks_.end()) continue;  // void
    if (found->second.used) {
      found->second.used = false;
      order_.push_back(id);
      continue;
    }
    stacks_.erase(found);
    forget_(id);
    return;
  }
}

}  // namespace offcpu

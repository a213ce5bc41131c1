#include "profile/stack_table.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "absl/hash/hash.h"

namespace offcpu {
namespace {

// What of a frame goes into the hash; equality looks at more.
struct FramesHash {
  const std::vector<Frame>* frames;

  template <typename H>
  friend H AbslHashValue(H h, const FramesHash& hashed) {
    for (const Frame& frame : *hashed.frames) h = H::combine(std::move(h), frame.code, frame.address);
    return H::combine(std::move(h), hashed.frames->size());
  }
};

}  // namespace

size_t UserStackHash::operator()(const UserStack& stack) const {
  return absl::Hash<FramesHash>{}(FramesHash{&stack.frames});
}

StackTable::StackTable(const Limits& limits) : limits_(limits), user_index_(0, Hash{&user_}, Equal{&user_}) {}

uint32_t StackTable::AddUser(UserStackEntry entry) {
  user_.push_back(std::move(entry));
  return static_cast<uint32_t>(user_.size() - 1);
}

uint32_t StackTable::InternUser(const UserStack& stack) {
  auto it = user_index_.find(stack);
  if (it != user_index_.end()) return *it;
  if (user_index_.size() >= limits_.user_stacks) {
    ++user_overflows_;
    return UserOverflow();
  }
  for (const Frame& frame : stack.frames) Keep(frame);
  uint32_t index = AddUser({stack, NoUserStack::kNone, false});
  user_index_.insert(index);
  return index;
}

void StackTable::Keep(const Frame& frame) {
  if (frame.code == nullptr) return;
  auto [it, inserted] = code_.try_emplace(frame.code);
  if (!inserted) return;
  it->second = frame.code->weak_from_this().lock();
  if (it->second == nullptr) std::abort();  // a frame must not outlive its module
}

uint32_t StackTable::InternMissing(NoUserStack reason) {
  std::optional<uint32_t>& index = missing_[static_cast<size_t>(reason)];
  if (!index) index = AddUser({{}, reason, false});
  return *index;
}

uint32_t StackTable::UserOverflow() {
  if (!user_overflow_) user_overflow_ = AddUser({{}, NoUserStack::kNone, true});
  return *user_overflow_;
}

std::optional<uint32_t> StackTable::FindOrAddKernel(uint64_t id) {
  auto it = kernel_index_.find(id);
  if (it != kernel_index_.end()) return it->second;
  if (kernel_index_.size() >= limits_.kernel_stacks) return std::nullopt;
  auto index = static_cast<uint32_t>(kernel_.size());
  kernel_.push_back({id, {}, false});
  kernel_index_.emplace(id, index);
  return index;
}

uint32_t StackTable::InternKernel(uint64_t id) {
  if (std::optional<uint32_t> index = FindOrAddKernel(id)) return *index;
  ++kernel_overflows_;
  return KernelOverflow();
}

bool StackTable::DefineKernel(uint64_t id, std::span<const uint64_t> addresses) {
  std::optional<uint32_t> index = FindOrAddKernel(id);
  if (!index) return true;
  std::vector<uint64_t>& known = kernel_[*index].addresses;
  if (!known.empty()) return std::equal(known.begin(), known.end(), addresses.begin(), addresses.end());
  known.assign(addresses.begin(), addresses.end());
  return true;
}

void StackTable::UndefineKernel(uint64_t id) {
  const auto known = kernel_index_.find(id);
  if (known != kernel_index_.end()) kernel_[known->second].addresses.clear();
}

uint32_t StackTable::KernelOverflow() {
  if (!kernel_overflow_) {
    kernel_overflow_ = static_cast<uint32_t>(kernel_.size());
    kernel_.push_back({0, {}, true});
  }
  return *kernel_overflow_;
}

uint32_t StackTable::InternUserMode() {
  if (!user_mode_) {
    user_mode_ = static_cast<uint32_t>(kernel_.size());
    kernel_.push_back({.user_mode = true});
  }
  return *user_mode_;
}

void StackTable::MoveTo(Profile& profile) {
  profile.user_stacks = std::move(user_);
  profile.kernel_stacks = std::move(kernel_);
  for (auto& [pointer, code] : code_) profile.code.push_back(std::move(code));
  std::sort(profile.code.begin(), profile.code.end(), [](const auto& a, const auto& b) {
    return std::tie(a->path, a->content_hash) < std::tie(b->path, b->content_hash);
  });
}

}  // namespace offcpu

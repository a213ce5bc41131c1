// The frames of kernel stacks by id, from one window to the next: the BPF programs send them once. Capped in number,
// and so in bytes; who throws one away asks for it to be sent again. One thread.
#ifndef OFFCPU_PROFILE_KERNEL_STACKS_H_
#define OFFCPU_PROFILE_KERNEL_STACKS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profile/void_names.h"

namespace offcpu {

class KernelStacks {
 public:
  // `forget` gets each id that was thrown away.
  KernelStacks(size_t max_stacks, std::function<void(uint64_t id)> forget)
      : max_stacks_(max_stacks), forget_(std::move(forget)) {}

  // Frames leaf first. False: the id is void, because it was, or because it is known with other frames.
  bool Define(uint64_t id, std::vector<uint64_t> frames);
  // Nobody knows which of its stacks an id stands for, now or later.
  void Void(uint64_t id);
  bool IsVoid(uint64_t id) const { return void_.Contains(id); }
  // Null if it is not known, or void. Valid until the next Define.
  const std::vector<uint64_t>* Find(uint64_t id);

  size_t size() const { return stacks_.size(); }
  // Ids that have become void.
  uint64_t conflicts() const { return conflicts_; }

 private:
  struct Stack {
    std::vector<uint64_t> frames;
    bool used = false;  // since it was defined, or last passed over
  };

  void EvictOne();

  const size_t max_stacks_;
  const std::function<void(uint64_t id)> forget_;
  absl::flat_hash_map<uint64_t, Stack> stacks_;
  VoidNames void_;
  uint64_t conflicts_ = 0;
  std::deque<uint64_t> order_;  // of eviction; what was used meanwhile goes to the end of it once more
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_KERNEL_STACKS_H_

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

namespace offcpu {

class KernelStacks {
 public:
  // `forget` is told of each id that was thrown away.
  KernelStacks(size_t max_stacks, std::function<void(uint64_t id)> forget)
      : max_stacks_(max_stacks), forget_(std::move(forget)) {}

  // Frames leaf first. The first definition of an id stays.
  void Define(uint64_t id, std::vector<uint64_t> frames);
  // Null if it is not known. Valid until the next Define.
  const std::vector<uint64_t>* Find(uint64_t id);

  size_t size() const { return stacks_.size(); }

 private:
  struct Stack {
    std::vector<uint64_t> frames;
    bool used = false;  // since it was defined, or last passed over
  };

  void EvictOne();

  const size_t max_stacks_;
  const std::function<void(uint64_t id)> forget_;
  absl::flat_hash_map<uint64_t, Stack> stacks_;
  std::deque<uint64_t> order_;  // of eviction; what was used meanwhile goes to the end of it once more
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_KERNEL_STACKS_H_

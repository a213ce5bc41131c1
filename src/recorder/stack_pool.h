// User stacks that several places hold: equal ones are one, and each lives as long as any place holds it. It keeps the
// code of its frames alive, whatever becomes of the process that it was captured in. One thread; the stacks may outlive
// the pool, but not move to another thread.
#ifndef OFFCPU_RECORDER_STACK_POOL_H_
#define OFFCPU_RECORDER_STACK_POOL_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "process/code_object.h"
#include "profile/stack_table.h"
#include "unwind/user_stack.h"

namespace offcpu {

struct PooledStack : std::enable_shared_from_this<PooledStack> {
  UserStack stack;
  std::vector<std::shared_ptr<const CodeObject>> code;  // of its frames, each once
};
using SharedStack = std::shared_ptr<const PooledStack>;

class StackPool {
 public:
  // The code of the frames must be owned by shared_ptrs.
  SharedStack Share(const UserStack& stack);

  size_t size() const { return alive_->stacks.size(); }
  size_t frames() const { return alive_->frames; }  // of all stacks

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(const UserStack& stack) const { return UserStackHash()(stack); }
    size_t operator()(const PooledStack* stack) const { return (*this)(stack->stack); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const PooledStack* a, const PooledStack* b) const { return a == b; }
    bool operator()(const PooledStack* a, const UserStack& b) const { return IsSameStack(a->stack, b); }
  };
  struct Alive {
    absl::flat_hash_set<const PooledStack*, Hash, Equal> stacks;
    size_t frames = 0;
  };

  const std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();
};

}  // namespace offcpu

#endif  // OFFCPU_RECORDER_STACK_POOL_H_

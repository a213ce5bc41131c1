#include "recorder/stack_pool.h"

#include <algorithm>
#include <utility>

namespace offcpu {
namespace {

std::vector<std::shared_ptr<const CodeObject>> CodeOf(const UserStack& stack) {
  std::vector<std::shared_ptr<const CodeObject>> all;
  for (const Frame& frame : stack.frames) {
    if (frame.code == nullptr) continue;
    const auto is_it = [&frame](const auto& code) { return code.get() == frame.code; };
    if (std::none_of(all.begin(), all.end(), is_it)) all.push_back(frame.code->shared_from_this());
  }
  return all;
}

}  // namespace

SharedStack StackPool::Share(const UserStack& stack) {
  if (const auto known = alive_->stacks.find(stack); known != alive_->stacks.end()) return (*known)->shared_from_this();
  auto pooled = std::make_unique<PooledStack>();
  pooled->stack = stack;
  pooled->code = CodeOf(stack);
  // The last place that lets go of it takes it out of the pool.
  SharedStack shared(pooled.release(), [alive = alive_](const PooledStack* last) {
    alive->stacks.erase(last);
    alive->frames -= last->stack.frames.size();
    delete last;
  });
  alive_->stacks.insert(shared.get());
  alive_->frames += stack.frames.size();
  return shared;
}

}  // namespace offcpu

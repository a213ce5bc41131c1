// Patterns of waits for work: whatever is taken keeps the promises of its header, and matching it ends.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "classify/idle_match.h"

namespace {

bool IsCertain(const offcpu::IdleFrame& frame) {
  return !frame.may_be_missing && !frame.may_be_unnamed && frame.unnamed_in.empty();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  offcpu::IdlePatterns patterns;
  if (!offcpu::AddIdlePatterns(text, "f", &patterns).ok()) {
    if (!patterns.empty()) std::abort();
    return 0;
  }
  const offcpu::FrameLine line = {.function = text.substr(0, 20)};
  const offcpu::NamedFrame frame = {{}, false, {&line, 1}, "m"};
  const std::vector<offcpu::NamedFrame> frames(40, frame);
  for (const offcpu::IdlePattern& pattern : patterns) {
    const bool is_of_any_wait = pattern.syscalls.empty() && (pattern.wait.empty() || pattern.causes.empty());
    if (pattern.name.empty() || is_of_any_wait || pattern.stacks.empty()) std::abort();
    for (const offcpu::IdleStack& stack : pattern.stacks) {
      const bool is_right = !stack.frames.empty() && stack.frames.size() <= offcpu::kMaxIdleFrames &&
                            IsCertain(stack.frames.back()) && (!stack.own_callees || IsCertain(stack.frames.front()));
      if (!is_right) std::abort();
      // Nothing has a name here, and the outermost function must have one.
      if (offcpu::MatchesStack(stack, frames)) std::abort();
    }
  }
  return 0;
}

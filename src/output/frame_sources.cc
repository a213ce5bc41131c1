#include "output/frame_sources.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

namespace offcpu {

SymbolizedProfile WithFrameSources(const Profile& profile, const SymbolizedProfile& symbols) {
  SymbolizedProfile sourced;
  sourced.kernel_stacks = symbols.kernel_stacks;
  sourced.user_stacks = symbols.user_stacks;
  sourced.idle = symbols.idle;
  absl::flat_hash_map<std::pair<std::string_view, FrameSource>, std::string_view> names;
  for (size_t stack = 0; stack < profile.user_stacks.size(); ++stack) {
    if (profile.user_stacks[stack].filtered) continue;
    const std::vector<Frame>& frames = profile.user_stacks[stack].stack.frames;
    for (size_t i = 0; i < frames.size(); ++i) {
      std::string_view& name = sourced.user_stacks[stack][i].name;
      const auto [it, inserted] = names.try_emplace({name, frames[i].source});
      if (inserted) {
        it->second = sourced.names->emplace_back(
            absl::StrCat(std::string(name), " [", std::string(Name(frames[i].source)), "]"));
      }
      name = it->second;
    }
  }
  return sourced;
}

}  // namespace offcpu

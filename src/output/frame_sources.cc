#include "output/frame_sources.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

namespace offcpu {

NamedProfile WithFrameSources(NamedProfile profile) {
  absl::flat_hash_map<std::pair<std::string_view, FrameSource>, std::string_view> names;
  for (NamedUserStack& stack : profile.user_stacks) {
    if (stack.filtered) continue;
    for (NamedFrame& frame : stack.frames) {
      const auto [it, inserted] = names.try_emplace({frame.name, frame.source});
      if (inserted) {
        const std::string source(Name(frame.source));
        it->second = profile.names->emplace_back(absl::StrCat(std::string(frame.name), " [", source, "]"));
      }
      frame.name = it->second;
    }
  }
  return profile;
}

}  // namespace offcpu

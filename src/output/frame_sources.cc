#include "output/frame_sources.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

namespace offcpu {

NamedProfile WithFrameSources(NamedProfile profile) {
  absl::flat_hash_map<std::pair<const FrameLine*, FrameSource>, std::span<const FrameLine>> marked;
  for (NamedUserStack& stack : profile.user_stacks) {
    for (NamedFrame& frame : stack.frames) {
      const auto [it, inserted] = marked.try_emplace({frame.lines.data(), frame.source});
      if (inserted) {
        std::vector<FrameLine> lines(frame.lines.begin(), frame.lines.end());
        const std::string source(Name(frame.source));
        lines.back().function = profile.names->Add(absl::StrCat(std::string(frame.name()), " [", source, "]"));
        it->second = profile.names->Add(std::move(lines));
      }
      frame.lines = it->second;
    }
  }
  return profile;
}

}  // namespace offcpu

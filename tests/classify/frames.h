// Frames of user and kernel stacks, as short texts.
#ifndef OFFCPU_TESTS_CLASSIFY_FRAMES_H_
#define OFFCPU_TESTS_CLASSIFY_FRAMES_H_

#include <string_view>
#include <vector>

#include "profile/named_profile.h"
#include "tests/profile/frame_lines.h"

namespace offcpu {

// "MODULE!FUNCTION" or, without a name, "MODULE!"; leaf first.
inline std::vector<NamedFrame> Frames(const std::vector<std::string_view>& texts) {
  std::vector<NamedFrame> frames;
  for (const std::string_view text : texts) {
    const size_t mark = text.find('!');
    const std::string_view name = text.substr(mark + 1);
    const bool named = !name.empty();
    frames.push_back({{}, named, Line(named ? name : "libx.so+0x10"), text.substr(0, mark)});
  }
  return frames;
}

// By their names; leaf first.
inline std::vector<NamedFrame> KernelFrames(const std::vector<std::string_view>& names) {
  std::vector<NamedFrame> frames;
  for (const std::string_view name : names) {
    frames.push_back({{.exact = false, .kind = FrameKind::kKernel}, !name.starts_with("[kernel] 0x"), Line(name)});
  }
  return frames;
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_CLASSIFY_FRAMES_H_

// Frames of user stacks, as short texts.
#ifndef OFFCPU_TESTS_SYMBOLIZE_IDLE_FRAMES_H_
#define OFFCPU_TESTS_SYMBOLIZE_IDLE_FRAMES_H_

#include <string_view>
#include <vector>

#include "symbolize/symbolizer.h"

namespace offcpu {

// "MODULE!FUNCTION" or, without a name, "MODULE!"; leaf first.
inline std::vector<SymbolizedFrame> Frames(const std::vector<std::string_view>& texts) {
  std::vector<SymbolizedFrame> frames;
  for (const std::string_view text : texts) {
    const size_t mark = text.find('!');
    const std::string_view name = text.substr(mark + 1);
    frames.push_back(
        {.name = name.empty() ? "libx.so+0x10" : name, .module = text.substr(0, mark), .named = !name.empty()});
  }
  return frames;
}

}  // namespace offcpu

#endif  // OFFCPU_TESTS_SYMBOLIZE_IDLE_FRAMES_H_

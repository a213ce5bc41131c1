#include "output/source_places.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

using FrameLines = std::span<const FrameLine>;

// Changes the lines of all frames, equal ones once.
template <typename Stack>
void ChangeLines(std::vector<Stack>& stacks, absl::FunctionRef<FrameLines(FrameLines lines)> change) {
  absl::flat_hash_map<std::pair<const FrameLine*, size_t>, FrameLines> changed;
  for (Stack& stack : stacks) {
    for (NamedFrame& frame : stack.frames) {
      if (frame.lines.empty()) continue;
      const auto [it, inserted] = changed.try_emplace({frame.lines.data(), frame.lines.size()});
      if (inserted) it->second = change(frame.lines);
      frame.lines = it->second;
    }
  }
}

void ChangeLines(NamedProfile* profile, absl::FunctionRef<FrameLines(FrameLines lines)> change) {
  ChangeLines(profile->user_stacks, change);
  ChangeLines(profile->kernel_stacks, change);
}

std::string PlaceText(const FrameLine& line) {
  const std::string file(line.file.substr(line.file.rfind('/') + 1));
  if (file.empty()) return "";
  return line.line == 0 ? absl::StrCat(" ", file) : absl::StrCat(" ", file, ":", line.line);
}

}  // namespace

void DropInlined(NamedProfile* profile) {
  ChangeLines(profile, [](FrameLines lines) { return lines.last(1); });
}

void DropPlaces(NamedProfile* profile) {
  ChangeLines(profile, [profile](FrameLines lines) { return profile->names->AddLine(lines.back().function); });
}

NamedProfile WithPlaces(NamedProfile profile) {
  ChangeLines(profile.user_stacks, [&profile](FrameLines lines) {
    std::vector<FrameLine> named(lines.begin(), lines.end());
    for (FrameLine& line : named) {
      const std::string place = PlaceText(line);
      if (!place.empty()) line.function = profile.names->Add(absl::StrCat(std::string(line.function), place));
    }
    return profile.names->Add(std::move(named));
  });
  return profile;
}

}  // namespace offcpu

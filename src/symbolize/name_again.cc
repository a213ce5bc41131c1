#include "symbolize/name_again.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "process/module.h"
#include "symbolize/frame_namer.h"
#include "symbolize/name_pool.h"

namespace offcpu {
namespace {

bool IsToBeNamed(const NamedFrame& frame) {
  const Module* module = AsModule(frame.code);
  const bool has_place = frame.lines.size() > 1 || (!frame.lines.empty() && !frame.lines.back().file.empty());
  return module != nullptr && !module->build_id.empty() && !has_place;
}

}  // namespace

void NameAgain(const std::string& directory, const FetchDebugFile& fetch, NamedProfile* profile) {
  absl::flat_hash_map<const CodeObject*, FrameNames> names;
  for (const NamedUserStack& stack : profile->user_stacks) {
    for (const NamedFrame& frame : stack.frames) {
      if (IsToBeNamed(frame)) names[frame.code].try_emplace(frame.lookup_address());
    }
  }
  NamePool pool(*profile->names, kMaxNameBytes);
  const SymbolizerOptions options = {.debug_directory = directory, .fetch = fetch, .lines = true};
  FrameNamer namer(profile->code, options, nullptr, pool);
  for (auto& [code, frames] : names) namer.Name(*code, frames);
  for (NamedUserStack& stack : profile->user_stacks) {
    for (NamedFrame& frame : stack.frames) {
      if (!IsToBeNamed(frame)) continue;
      const FrameName& found = names[frame.code][frame.lookup_address()];
      if (!found.named) continue;
      frame.lines = found.lines;
      frame.named = true;
    }
  }
  for (Loss& loss : namer.Losses()) profile->stats.losses.push_back(std::move(loss));
}

}  // namespace offcpu

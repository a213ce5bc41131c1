#include "pprof/pprof_labels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

bool IsUsuallyExact(FrameSource source) {
  return source == FrameSource::kRegisters || source == FrameSource::kSignalTrampoline;
}

bool IsUnusual(const Frame& frame) { return frame.exact != IsUsuallyExact(frame.source); }

bool SameWay(const Frame& a, const Frame& b) { return a.source == b.source && a.exact == b.exact; }

// "name*count" or "name!*count".
struct Run {
  FrameSource source;
  bool exact;
  size_t frames;
};

std::optional<Run> ParseRun(std::string_view text) {
  Run run = {};
  const size_t star = text.find('*');
  if (star == std::string_view::npos) return std::nullopt;
  const std::string count(text.substr(star + 1));
  uint32_t frames = 0;
  if (!absl::SimpleAtoi(count, &frames) || frames == 0) return std::nullopt;
  run.frames = frames;
  text = text.substr(0, star);
  const bool unusual = text.ends_with('!');
  if (unusual) text.remove_suffix(1);
  const std::optional<FrameSource> source = ByName<FrameSource>(text, kFrameSourceCount);
  if (!source.has_value()) return std::nullopt;
  run.source = *source;
  run.exact = IsUsuallyExact(*source) != unusual;
  return run;
}

}  // namespace

std::string WakerLabel(size_t index) {
  return absl::StrCat(std::string(kWakerLabel), index == 0 ? "" : absl::StrCat(index + 1));
}

std::string WakerPrefix(size_t index) { return absl::StrCat(WakerLabel(index), "_"); }

std::string_view NameToday(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kRenamed = {{
      {"window", "stack copy"},
      {"[truncated: window]", "[truncated: stack copy]"},
      {"walk_ends window", "walk_ends stack copy"},
  }};
  const auto* const renamed =
      std::find_if(kRenamed.begin(), kRenamed.end(), [name](const auto& names) { return names.first == name; });
  return renamed == kRenamed.end() ? name : renamed->second;
}

std::string SourcesText(const std::vector<NamedFrame>& frames) {
  std::string text;
  for (size_t begin = 1, end = 1; begin < frames.size(); begin = end) {
    while (end < frames.size() && SameWay(frames[begin], frames[end])) ++end;
    absl::StrAppend(&text, text.empty() ? "" : "+", std::string(Name(frames[begin].source)),
                    IsUnusual(frames[begin]) ? "!" : "", "*", end - begin);
  }
  return text;
}

bool ReadSources(std::string_view text, std::vector<NamedFrame>& frames) {
  if (frames.empty()) return text.empty();
  frames[0].source = FrameSource::kRegisters;
  frames[0].exact = true;
  size_t next = 1;
  while (!text.empty()) {
    const size_t plus = text.find('+');
    const std::optional<Run> run = ParseRun(text.substr(0, plus));
    text = plus == std::string_view::npos ? std::string_view() : text.substr(plus + 1);
    if (!run.has_value()) return false;
    if (run->frames > frames.size() - next) return false;
    for (const size_t end = next + run->frames; next < end; ++next) {
      frames[next].source = run->source;
      frames[next].exact = run->exact;
    }
  }
  return next == frames.size();
}

}  // namespace offcpu

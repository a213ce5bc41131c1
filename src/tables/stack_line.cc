#include "tables/stack_line.h"

#include <algorithm>

#include "absl/strings/str_replace.h"
#include "tables/columns.h"

namespace offcpu {
namespace {

constexpr size_t kMaxFrames = 8;
constexpr size_t kMinKernelColumns = 14;
constexpr size_t kMinBothColumns = 24;  // below that, the frames have all of the room
constexpr size_t kMinNameColumns = 8;   // or a caller is not worth its place
constexpr size_t kMaxNameColumns = 60;

// As many callers as there is room for.
std::string JoinFrames(const std::vector<std::string>& frames, size_t columns) {
  std::string text;
  for (size_t i = 0; i < std::min(frames.size(), kMaxFrames); ++i) {
    const std::string before = i == 0 ? "" : " < ";
    const size_t room = columns - std::min(columns, ColumnsOf(text) + before.size());
    if (i != 0 && room < kMinNameColumns) break;
    text += before + Shortened(ShortFrameName(frames[i], kMaxNameColumns), room);
  }
  return text;
}

}  // namespace

std::string ShortFrameName(const std::string& name, size_t columns) {
  return Shortened(absl::StrReplaceAll(name, {{"(anonymous namespace)::", ""}}), columns);
}

std::string StackLine(const std::vector<std::string>& frames, const std::string& waits_in, size_t columns) {
  if (waits_in.empty() || columns < kMinBothColumns) return JoinFrames(frames, columns);
  const std::string end = " | " + Shortened(waits_in, std::max(columns / 3, kMinKernelColumns));
  return JoinFrames(frames, columns - ColumnsOf(end)) + end;
}

}  // namespace offcpu

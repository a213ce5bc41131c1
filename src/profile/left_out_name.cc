#include "profile/left_out_name.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace offcpu {

std::string LeftOutName(uint64_t frames) { return absl::StrCat("[", frames, " frames left out]"); }

bool IsLeftOutName(std::string_view name) {
  const size_t end = name.find(' ');
  if (!name.starts_with('[') || end == std::string_view::npos) return false;
  uint64_t frames = 0;
  return absl::SimpleAtoi(absl::string_view(name.data() + 1, end - 1), &frames) && name == LeftOutName(frames);
}

}  // namespace offcpu

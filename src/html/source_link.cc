#include "html/source_link.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "bytes/utf8.h"

namespace offcpu {
namespace {

constexpr size_t kMaxBytes = 4096;

bool IsOfScheme(char c) {
  return absl::ascii_islower(static_cast<unsigned char>(c)) || absl::ascii_isdigit(static_cast<unsigned char>(c)) ||
         c == '+' || c == '-' || c == '.';
}

bool IsToOpen(std::string_view scheme) {
  constexpr std::array<std::string_view, 5> kRun = {"javascript", "vbscript", "data", "blob", "filesystem"};
  return !scheme.empty() && absl::ascii_islower(static_cast<unsigned char>(scheme.front())) &&
         std::all_of(scheme.begin(), scheme.end(), IsOfScheme) &&
         std::find(kRun.begin(), kRun.end(), scheme) == kRun.end();
}

// Are scheme and host known before the file is?
bool IsUrl(std::string_view url) {
  constexpr std::string_view kMark = "://";
  const size_t mark = url.find(kMark);
  if (mark == std::string_view::npos || !IsToOpen(url.substr(0, mark))) return false;
  if (!std::all_of(url.begin(), url.end(), [](char c) { return c > ' ' && c < 0x7f; })) return false;
  const size_t host = mark + kMark.size();
  const size_t end = url.find_first_of("/?#%\\", host);
  return end != std::string_view::npos && end > host && url[end] != '%' && url[end] != '\\';
}

}  // namespace

absl::StatusOr<SourceLink> ParseSourceLink(std::string_view text) {
  SourceLink link;
  std::string_view url = text;
  if (const size_t equal = url.find('='); url.starts_with('/') || url.starts_with('.')) {
    link.prefix = std::string(url.substr(0, equal));
    url = equal == std::string_view::npos ? "" : url.substr(equal + 1);
  }
  link.url = std::string(url);
  if (text.size() <= kMaxBytes && IsUrl(url) && url.find("%f") != std::string_view::npos) return link;
  return absl::InvalidArgumentError(
      absl::StrCat("--source-link ", Printable(text.substr(0, 200)),
                   ": write [PREFIX=]URL, such as https://example.org/%f#L%l, with the host before %f (the file)"));
}

}  // namespace offcpu

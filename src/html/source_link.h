// Where a browser finds the source of a frame: an address with places for the file and the line. Pure functions.
#ifndef OFFCPU_HTML_SOURCE_LINK_H_
#define OFFCPU_HTML_SOURCE_LINK_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace offcpu {

struct SourceLink {
  std::string prefix;  // of the files that it is for, which their links lack; "": of all
  std::string url;     // %f: the file, escaped; %l: the line

  bool operator==(const SourceLink&) const = default;
};

// "[PREFIX=]URL", a prefix that begins with '/' or '.'. Files are named by targets, so they must not decide what a link
// does: the scheme and the host stand in the URL itself, and the scheme is none of those that run what follows.
absl::StatusOr<SourceLink> ParseSourceLink(std::string_view text);

}  // namespace offcpu

#endif  // OFFCPU_HTML_SOURCE_LINK_H_

// What is the same in every page: the files of page/, as CMake has put them together (page.cmake). The hashes are those
// of exactly these texts.
#ifndef OFFCPU_HTML_PAGE_H_
#define OFFCPU_HTML_PAGE_H_

#include <string_view>

namespace offcpu {

extern const std::string_view kPageBody;
extern const std::string_view kPageStyle;
extern const std::string_view kPageStyleSha256;  // its 32 bytes
extern const std::string_view kPageScript;
extern const std::string_view kPageScriptSha256;

}  // namespace offcpu

#endif  // OFFCPU_HTML_PAGE_H_

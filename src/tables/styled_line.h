// A line for a screen, in parts that may stand out. No escape sequences: the owner of the terminal decides how a part
// stands out. Values.
#ifndef OFFCPU_TABLES_STYLED_LINE_H_
#define OFFCPU_TABLES_STYLED_LINE_H_

#include <string>
#include <vector>

namespace offcpu {

// In a line that is selected, only plain parts look selected: a picture is what its characters leave empty, too.
enum class Style { kPlain, kTitle, kQuiet, kPicture, kBlocked, kRunnable };

struct StyledPart {
  std::string text;
  Style style = Style::kPlain;
};

struct StyledLine {
  std::vector<StyledPart> parts;
  bool is_selected = false;
};

}  // namespace offcpu

#endif  // OFFCPU_TABLES_STYLED_LINE_H_

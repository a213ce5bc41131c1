// A line for a screen, in parts that may stand out. No escape sequences: how a part stands out is for whoever owns the
// terminal. Values.
#ifndef OFFCPU_TABLES_STYLED_LINE_H_
#define OFFCPU_TABLES_STYLED_LINE_H_

#include <string>
#include <vector>

namespace offcpu {

// Of a line that is selected, only what is plain looks selected: a picture is what its characters leave empty, too.
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

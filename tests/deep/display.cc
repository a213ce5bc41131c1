#include "tests/deep/display.h"

#include <vterm.h>

#include <cstdint>

namespace offcpu::integration {
namespace {

std::string Utf8Of(uint32_t character) {
  const auto continued = [](uint32_t bits) { return static_cast<char>(0x80 | (bits & 0x3f)); };
  if (character < 0x80) return {static_cast<char>(character)};
  if (character < 0x800) return {static_cast<char>(0xc0 | character >> 6), continued(character)};
  if (character < 0x10000)
    return {static_cast<char>(0xe0 | character >> 12), continued(character >> 6), continued(character)};
  return {static_cast<char>(0xf0 | character >> 18), continued(character >> 12), continued(character >> 6),
          continued(character)};
}

}  // namespace

void Display::Free::operator()(VTerm* terminal) const { vterm_free(terminal); }

Display::Display(int lines, int columns) : terminal_(vterm_new(lines, columns)) {
  vterm_set_utf8(terminal_.get(), 1);
  VTermScreen* screen = vterm_obtain_screen(terminal_.get());
  vterm_screen_enable_altscreen(screen, 1);
  vterm_screen_reset(screen, 1);
}

void Display::Feed(const std::string& bytes) { vterm_input_write(terminal_.get(), bytes.data(), bytes.size()); }

std::string Display::Line(int line, bool only_reversed) const {
  int lines = 0;
  int columns = 0;
  vterm_get_size(terminal_.get(), &lines, &columns);
  std::string text;
  for (int column = 0; column < columns;) {
    VTermScreenCell cell = {};
    vterm_screen_get_cell(vterm_obtain_screen(terminal_.get()), {.row = line, .col = column}, &cell);
    column += cell.width > 0 ? cell.width : 1;
    if (only_reversed && cell.attrs.reverse == 0) continue;
    if (cell.chars[0] == 0) text += ' ';
    for (size_t i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell.chars[i] != 0; ++i) text += Utf8Of(cell.chars[i]);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::vector<std::string> Display::Lines() const {
  int lines = 0;
  int columns = 0;
  vterm_get_size(terminal_.get(), &lines, &columns);
  std::vector<std::string> texts;
  for (int line = 0; line < lines; ++line) texts.push_back(Line(line, false));
  return texts;
}

std::vector<std::string> Display::SelectedLines() const {
  std::vector<std::string> texts;
  for (int line = 0; line < static_cast<int>(Lines().size()); ++line) {
    if (const std::string text = Line(line, true); !text.empty()) texts.push_back(text);
  }
  return texts;
}

}  // namespace offcpu::integration

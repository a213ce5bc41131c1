#include "tables/columns.h"

#include <algorithm>

#include "bytes/utf8.h"

namespace offcpu {
namespace {

constexpr std::string_view kMark = "..";

// The last `columns` characters of valid UTF-8.
std::string_view LastOf(std::string_view valid, size_t columns) {
  size_t skipped = ColumnsOf(valid) - std::min(columns, ColumnsOf(valid));
  for (; skipped > 0; --skipped) valid.remove_prefix(std::max<size_t>(Utf8SequenceLength(valid), 1));
  return valid;
}

constexpr std::string_view kFurtherIndent = "    ";

// How many bytes of a line that is too long go into `columns`: up to a blank that is not of its own indent.
size_t BytesBeforeBreak(std::string_view line, size_t columns) {
  const size_t most = line.size() - LastOf(line, ColumnsOf(line) - columns).size();
  const size_t text = line.find_first_not_of(' ');
  const size_t blank = line.rfind(' ', most);
  return blank == std::string_view::npos || blank <= text ? most : blank;
}

}  // namespace

size_t ColumnsOf(std::string_view valid) {
  return static_cast<size_t>(
      std::count_if(valid.begin(), valid.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string ForScreen(std::string_view text, size_t columns) {
  std::string shown;
  for (size_t column = 0; column < columns && !text.empty(); ++column) {
    const std::string_view character = text.substr(0, std::max<size_t>(Utf8SequenceLength(text), 1));
    shown += Printable(character);
    text.remove_prefix(character.size());
  }
  return shown;
}

std::string Cell(std::string_view text, size_t columns) {
  std::string cell = ForScreen(text, columns);
  cell.append(columns - ColumnsOf(cell), ' ');
  return cell;
}

std::string RightCell(std::string_view text, size_t columns) {
  return std::string(columns - std::min(columns, ColumnsOf(text)), ' ') + std::string(text);
}

std::string Shortened(std::string_view text, size_t columns) {
  std::string shown = ForScreen(text, columns);
  if (shown == ForScreen(text, kNoLimit) || columns < kMark.size()) return shown;
  return ForScreen(text, columns - kMark.size()) + std::string(kMark);
}

std::string ShortenedInside(std::string_view text, size_t columns) {
  const std::string whole = ForScreen(text, kNoLimit);
  if (ColumnsOf(whole) <= columns || columns <= kMark.size()) return ForScreen(whole, columns);
  const size_t room = columns - kMark.size();
  const size_t tail = room / 2;
  return ForScreen(whole, room - tail) + std::string(kMark) + std::string(LastOf(whole, tail));
}

std::string Wrapped(std::string_view text, size_t columns) {
  if (columns <= kFurtherIndent.size()) return std::string(text);
  std::string wrapped;
  while (!text.empty()) {
    std::string line(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    while (ColumnsOf(line) > columns) {
      const size_t bytes = BytesBeforeBreak(line, columns);
      wrapped += line.substr(0, bytes) + "\n";
      line.erase(0, std::min(line.find_first_not_of(' ', bytes), line.size()));
      line.insert(0, kFurtherIndent);
    }
    wrapped += line + "\n";
  }
  return wrapped;
}

}  // namespace offcpu

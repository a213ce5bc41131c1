#include "offcpu/fit_columns.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace offcpu {
namespace {

constexpr size_t kNarrowest = 24;  // column that is worth reading
constexpr size_t kBelow = 6;       // indentation of a column that has a line of its own

size_t LastColumn(const std::string& line) {
  const size_t spaces = line.rfind("  ");
  return spaces == std::string::npos ? 0 : spaces + 2;
}

std::vector<std::string> Folded(const std::string& whole, size_t columns) {
  std::vector<std::string> lines;
  std::string line = whole;
  size_t indent = LastColumn(whole);
  if (line.size() > columns && indent > kBelow && indent + kNarrowest > columns) {
    line.resize(indent);
    absl::StripTrailingAsciiWhitespace(&line);
    lines.push_back(line);
    line = absl::StrCat(std::string(kBelow, ' '), whole.substr(indent));
    indent = kBelow;
  }
  while (line.size() > columns) {
    size_t end = line.rfind(' ', columns);
    if (end == std::string::npos || end <= indent) end = line.find(' ', columns);  // behind a longer word
    if (end == std::string::npos) break;
    lines.push_back(line.substr(0, end));
    line = absl::StrCat(std::string(indent, ' '), line.substr(end + 1));
  }
  lines.push_back(line);
  return lines;
}

}  // namespace

std::string FitColumns(const std::string& text, size_t columns) {
  std::vector<std::string> lines;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n')))
    for (std::string& part : Folded(line, columns)) lines.push_back(std::move(part));
  return absl::StrJoin(lines, "\n");
}

}  // namespace offcpu

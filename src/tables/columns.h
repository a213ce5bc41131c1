// Text of anyone in the columns of a terminal: as valid UTF-8, without characters that control it. A code point is
// taken for a column: the terminal cuts what is wider. Pure functions.
#ifndef OFFCPU_TABLES_COLUMNS_H_
#define OFFCPU_TABLES_COLUMNS_H_

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace offcpu {

inline constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();

// How many columns `valid`, which is valid UTF-8, takes.
size_t ColumnsOf(std::string_view valid);

// The first `columns` characters.
std::string ForScreen(std::string_view text, size_t columns);

// As wide as `columns`, exactly.
std::string Cell(std::string_view text, size_t columns);

// The same, with what there is at the end of it; longer texts stay as they are.
std::string RightCell(std::string_view text, size_t columns);

// All of it, or as much as there is room for: marked where it is cut, at its end, or in its middle so that both ends
// stay.
std::string Shortened(std::string_view text, size_t columns);
std::string ShortenedInside(std::string_view text, size_t columns);

// Lines that are longer go on in the next one, below an indent: broken at a blank, if there is one.
std::string Wrapped(std::string_view text, size_t columns);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_COLUMNS_H_

// A column for the standard errors of a sample beside one of figures: in tables where some figure has one. Where every
// wait was recorded there is no such column, and in a line without an error it is blank. Pure functions.
#ifndef OFFCPU_TABLES_ERROR_COLUMN_H_
#define OFFCPU_TABLES_ERROR_COLUMN_H_

#include <string>
#include <string_view>

#include "tables/columns.h"

namespace offcpu {

inline constexpr size_t kErrorColumns = 8;  // "±>999 %?"
inline constexpr std::string_view kErrorTitle = "±";

// With a blank before it.
inline std::string ErrorColumn(bool has_errors, std::string_view text) {
  return has_errors ? " " + RightCell(text, kErrorColumns) : "";
}

}  // namespace offcpu

#endif  // OFFCPU_TABLES_ERROR_COLUMN_H_

// Figures as pictures of characters. Pure functions.
#ifndef OFFCPU_TABLES_TOP_BARS_H_
#define OFFCPU_TABLES_TOP_BARS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "labels/row_value.h"
#include "tables/styled_line.h"

namespace offcpu {

// As long beside `columns` as the value is beside `most`: what there is at all has a character. What is runnable looks
// another way than what is blocked, also where there are no colours. The last part fills up to `columns`.
std::vector<StyledPart> Bar(const RowSums& sums, RowValue value, uint64_t most, size_t columns, bool has_blocks);

// The last `columns` of the figures, each as high as it is beside the largest of them: what there is at all is no
// blank. Blanks come before where there are fewer. Nothing, where it is not known that there was nothing, is a dot.
std::string Sparkline(const std::vector<std::optional<double>>& figures, size_t columns, bool has_blocks);

}  // namespace offcpu

#endif  // OFFCPU_TABLES_TOP_BARS_H_

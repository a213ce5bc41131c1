#include "tables/top_bars.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace offcpu {
namespace {

constexpr std::array<std::string_view, 9> kBlocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<std::string_view, 9> kLetters = {" ", "_", ".", ",", "-", "=", "+", "*", "#"};

std::string Repeated(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

// `most` is not 0.
size_t CellsOf(uint64_t amount, uint64_t most, size_t columns) {
  const double share = static_cast<double>(amount) / static_cast<double>(most);
  return std::min(columns, static_cast<size_t>(std::ceil(share * static_cast<double>(columns))));
}

// How many of `cells`, which stand for all of the value, are for its runnable part.
size_t RunnableCells(const RowSums& sums, RowValue value, size_t cells) {
  if (value == RowValue::kRunnable) return cells;
  if (value != RowValue::kOffCpu || sums.total_ns() == 0) return 0;
  const double share = static_cast<double>(sums.runnable_ns) / static_cast<double>(sums.total_ns());
  return static_cast<size_t>(std::lround(share * static_cast<double>(cells)));
}

}  // namespace

std::vector<StyledPart> Bar(const RowSums& sums, RowValue value, uint64_t most, size_t columns, bool has_blocks) {
  const size_t cells = most == 0 ? 0 : CellsOf(ValueOf(sums, value), most, columns);
  const size_t runnable = RunnableCells(sums, value, cells);
  return {{Repeated(has_blocks ? "█" : "#", cells - runnable), Style::kBlocked},
          {Repeated(has_blocks ? "▒" : "/", runnable), Style::kRunnable},
          {std::string(columns - cells, ' '), Style::kPicture}};
}

std::string Sparkline(const std::vector<std::optional<double>>& figures, size_t columns, bool has_blocks) {
  const auto& levels = has_blocks ? kBlocks : kLetters;
  const size_t shown = std::min(figures.size(), columns);
  const auto first = figures.end() - static_cast<ptrdiff_t>(shown);
  const double most = shown == 0 ? 0 : std::max_element(first, figures.end())->value_or(0);
  std::string line(columns - shown, ' ');
  for (auto it = first; it != figures.end(); ++it) {
    if (!it->has_value()) {
      line += has_blocks ? "·" : ":";
      continue;
    }
    const double share = most > 0 ? **it / most : 0;
    line += levels.at(static_cast<size_t>(std::ceil(share * static_cast<double>(levels.size() - 1))));
  }
  return line;
}

}  // namespace offcpu

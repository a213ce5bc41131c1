#include "bytes/nearest_word.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"

namespace offcpu {
namespace {

size_t Mistakes(std::string_view typed, std::string_view word) {
  std::vector<std::vector<size_t>> to(typed.size() + 1, std::vector<size_t>(word.size() + 1));
  for (size_t i = 0; i <= typed.size(); ++i) {
    for (size_t j = 0; j <= word.size(); ++j) {
      if (i == 0 || j == 0) {
        to[i][j] = i + j;
        continue;
      }
      const bool is_same = typed[i - 1] == word[j - 1];
      to[i][j] = std::min({to[i - 1][j] + 1, to[i][j - 1] + 1, to[i - 1][j - 1] + (is_same ? 0 : 1)});
      const bool is_swap = i > 1 && j > 1 && typed[i - 1] == word[j - 2] && typed[i - 2] == word[j - 1];
      if (is_swap) to[i][j] = std::min(to[i][j], to[i - 2][j - 2] + 1);
    }
  }
  return to[typed.size()][word.size()];
}

}  // namespace

std::string NearestWord(std::string_view typed, std::span<const std::string> words) {
  constexpr size_t kMaxTyped = 64;
  if (typed.empty() || typed.size() > kMaxTyped || words.empty()) return "";
  const auto nearest = std::min_element(words.begin(), words.end(), [&](const std::string& a, const std::string& b) {
    return Mistakes(typed, a) < Mistakes(typed, b);
  });
  const size_t mistakes = Mistakes(typed, *nearest);
  return mistakes == 0 || mistakes > std::max<size_t>(1, nearest->size() / 3) ? "" : *nearest;
}

std::string DidYouMean(std::string_view typed, std::span<const std::string> words) {
  const std::string nearest = NearestWord(typed, words);
  return nearest.empty() ? "" : absl::StrCat(" (did you mean ", nearest, "?)");
}

}  // namespace offcpu

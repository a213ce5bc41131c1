#include "html/page_rows.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace offcpu {
namespace {

// The rows of the profile that keep their stacks: those with the longest times, and the first of equal ones.
std::vector<bool> Kept(const NamedProfile& profile, size_t max_stacks) {
  std::vector<bool> kept(profile.rows.size(), profile.rows.size() <= max_stacks);
  if (profile.rows.size() <= max_stacks) return kept;
  std::vector<size_t> order(profile.rows.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto is_longer = [&profile](size_t a, size_t b) {
    return std::make_tuple(profile.rows[b].wall_ns(), a) < std::make_tuple(profile.rows[a].wall_ns(), b);
  };
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(max_stacks), order.end(), is_longer);
  for (size_t i = 0; i < max_stacks; ++i) kept[order[i]] = true;
  return kept;
}

// The values of one label, each once.
class LabelValues {
 public:
  uint32_t Of(uint32_t string) {
    const auto [it, is_new] = index_.try_emplace(string, static_cast<uint32_t>(values_.size()));
    if (is_new) values_.push_back(string);
    return it->second;
  }
  std::vector<uint32_t> Take() { return std::move(values_); }

 private:
  std::vector<uint32_t> values_ = {0};
  absl::flat_hash_map<uint32_t, uint32_t> index_ = {{0, 0}};
};

}  // namespace

PageRows RowsOf(const NamedProfile& profile, size_t max_stacks, StackTree& tree) {
  PageRows result;
  const std::vector<bool> kept = Kept(profile, max_stacks);
  RowLabels labels(profile);
  std::array<LabelValues, kRowLabelCount> values;
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, std::array<uint32_t, kRowLabelCount>>, size_t> index;
  for (size_t i = 0; i < profile.rows.size(); ++i) {
    const NamedRow& row = profile.rows[i];
    PageRow made;
    made.stack = kept[i] ? tree.StackOf(row.user_stack, row.kernel_stack) : tree.Pruned();
    made.waker = kept[i] ? tree.WakersOf(row.waker) : 0;
    if (!kept[i]) ++result.pruned;
    const RowLabelValues texts = labels.OfRow(row);
    for (size_t label = 0; label < kRowLabelCount; ++label) {
      made.labels[label] = values[label].Of(tree.strings().Of(TextOf(texts, static_cast<RowLabel>(label))));
    }
    const auto [it, is_new] = index.try_emplace({made.stack, made.waker, made.labels}, result.rows.size());
    if (is_new) result.rows.push_back(made);
    result.rows[it->second].sums.Add(row.sums());
  }
  for (size_t label = 0; label < kRowLabelCount; ++label) result.values[label] = values[label].Take();
  return result;
}

}  // namespace offcpu

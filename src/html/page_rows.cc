#include "html/page_rows.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "labels/stack_labels.h"

namespace offcpu {
namespace {

// By index: whether it is one of the `count` largest; of equal ones the first.
template <typename Amount>
std::vector<bool> Largest(const std::vector<Amount>& amounts, size_t count) {
  std::vector<bool> is_one(amounts.size(), amounts.size() <= count);
  if (amounts.size() <= count) return is_one;
  std::vector<size_t> order(amounts.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto is_larger = [&amounts](size_t a, size_t b) {
    return std::make_tuple(amounts[b], a) < std::make_tuple(amounts[a], b);
  };
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(), is_larger);
  for (size_t i = 0; i < count; ++i) is_one[order[i]] = true;
  return is_one;
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

// What tells the threads and processes of one run apart.
bool IsOfOneRun(RowLabel label) {
  return label == RowLabel::kPid || label == RowLabel::kImage || label == RowLabel::kTid;
}

// Makes the rows of a page of those of one profile after the other.
class RowMaker {
 public:
  RowMaker(bool is_comparing, StackTree& tree) : is_comparing_(is_comparing), tree_(tree) {}

  // Where each row of the profile went. Those that are not `kept` lose their stacks.
  std::vector<size_t> Add(const NamedProfile& profile, const std::vector<bool>& kept, RowSums PageRow::*sums) {
    StackPlacer stacks(profile, is_comparing_, tree_);
    RowLabels labels(profile);
    if (!is_comparing_ && profile.times.bucket_ns != 0)
      result_.times.emplace(TimeTable::kMaxBuckets, TimeTable::ShiftOf(profile.times.bucket_ns));
    std::vector<size_t> places;
    places.reserve(profile.rows.size());
    for (size_t i = 0; i < profile.rows.size(); ++i) {
      const NamedRow& row = profile.rows[i];
      PageRow made;
      const auto spot = kept[i] ? stacks.StackOf(row.user_stack, row.kernel_stack) : StackTree::Spot{stacks.Pruned()};
      made.stack = spot.node;
      made.step = spot.step;
      made.waker = kept[i] ? stacks.WakersOf(row.waker) : 0;
      if (!kept[i]) ++result_.pruned;
      SetLabels(labels.OfRow(row), made);
      const auto [it, is_new] =
          index_.try_emplace({made.stack, made.waker, made.step, made.labels}, result_.rows.size());
      if (is_new) result_.rows.push_back(made);
      (result_.rows[it->second].*sums).Add(row.sums());
      if (result_.times.has_value()) AddTimes(profile, row, static_cast<uint32_t>(it->second), is_new);
      places.push_back(it->second);
    }
    return places;
  }

  PageRows Take() {
    for (size_t label = 0; label < kRowLabelCount; ++label) result_.values[label] = values_[label].Take();
    return std::move(result_);
  }

 private:
  void AddTimes(const NamedProfile& profile, const NamedRow& row, uint32_t to, bool is_new) {
    if (is_new) result_.times->AddRow();
    const int shift = TimeTable::ShiftOf(profile.times.bucket_ns);
    for (const TimeBucket& bucket : UnpackTimes(row.times).value_or(std::vector<TimeBucket>()))
      result_.times->Add(to, uint64_t{bucket.number} << shift, bucket);
  }

  void SetLabels(const RowLabelValues& texts, PageRow& made) {
    for (size_t i = 0; i < kRowLabelCount; ++i) {
      const auto label = static_cast<RowLabel>(i);
      if (is_comparing_ && IsOfOneRun(label)) continue;
      made.labels[i] = values_[i].Of(tree_.strings().Of(TextOf(texts, label)));
    }
  }

  const bool is_comparing_;
  StackTree& tree_;
  PageRows result_;
  std::array<LabelValues, kRowLabelCount> values_;
  using Key = std::tuple<uint32_t, uint32_t, uint32_t, std::array<uint32_t, kRowLabelCount>>;
  absl::flat_hash_map<Key, size_t> index_;
};

double PerSecond(uint64_t ns, const NamedProfile& profile) {
  return profile.duration_ns == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(profile.duration_ns);
}

// Which rows of two profiles keep their stacks.
struct KeptOfBoth {
  std::vector<bool> before;
  std::vector<bool> after;
};

KeptOfBoth KeptRows(const NamedProfile& before, const NamedProfile& after, size_t max_stacks) {
  KeptOfBoth kept = {std::vector<bool>(before.rows.size(), true), std::vector<bool>(after.rows.size(), true)};
  if (before.rows.size() + after.rows.size() <= max_stacks) return kept;
  StackTree tree;  // of all of them, so that it is known which are the same
  RowMaker maker(true, tree);
  const std::vector<size_t> of_before = maker.Add(before, kept.before, &PageRow::before);
  const std::vector<size_t> of_after = maker.Add(after, kept.after, &PageRow::sums);
  const PageRows all = maker.Take();
  std::vector<double> rates;
  for (const PageRow& row : all.rows)
    rates.push_back(std::max(PerSecond(row.before.wall_ns(), before), PerSecond(row.sums.wall_ns(), after)));
  const std::vector<bool> is_kept = Largest(rates, max_stacks);
  for (size_t i = 0; i < of_before.size(); ++i) kept.before[i] = is_kept[of_before[i]];
  for (size_t i = 0; i < of_after.size(); ++i) kept.after[i] = is_kept[of_after[i]];
  return kept;
}

}  // namespace

PageRows RowsOf(const NamedProfile& profile, size_t max_stacks, StackTree& tree) {
  std::vector<uint64_t> times;
  for (const NamedRow& row : profile.rows) times.push_back(row.wall_ns());
  RowMaker maker(false, tree);
  maker.Add(profile, Largest(times, max_stacks), &PageRow::sums);
  return maker.Take();
}

PageRows RowsOfBoth(const NamedProfile& before, const NamedProfile& after, size_t max_stacks, StackTree& tree) {
  const KeptOfBoth kept = KeptRows(before, after, max_stacks);
  RowMaker maker(true, tree);
  maker.Add(before, kept.before, &PageRow::before);
  maker.Add(after, kept.after, &PageRow::sums);
  return maker.Take();
}

}  // namespace offcpu

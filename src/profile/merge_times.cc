#include "profile/merge_times.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace offcpu {
namespace {

// In which all profiles lie: some are of other years.
constexpr uint64_t kMaxBuckets = uint64_t{1} << 24;

}  // namespace

MergedTimes::MergedTimes(std::span<const std::shared_ptr<const Profile>> windows) {
  for (const auto& window : windows) by_boot_clock_ = by_boot_clock_ && window->start_boot_ns != 0;
  int shift = 0;
  uint64_t first_ns = std::numeric_limits<uint64_t>::max();
  uint64_t last_ns = 0;
  for (const auto& window : windows) {
    if (window->times.bucket_ns == 0) continue;
    const uint64_t begin_ns = BeginOf(*window);
    // Buckets begin where those of the widest do.
    if (const int width = TimeTable::ShiftOf(window->times.bucket_ns); width > shift || last_ns == 0) {
      shift = width;
      origin_ns_ = begin_ns;
    }
    first_ns = std::min(first_ns, begin_ns);
    last_ns = std::max(last_ns, begin_ns);
  }
  if (last_ns == 0) return;
  while (shift < TimeTable::kMaxShift && (last_ns - first_ns) / (TimeTable::kLeastBucketNs << shift) > kMaxBuckets)
    ++shift;
  const uint64_t bucket_ns = TimeTable::kLeastBucketNs << shift;
  // Rounding may put a window half a bucket before the first one.
  if (origin_ns_ >= first_ns) origin_ns_ -= ((origin_ns_ - first_ns) / bucket_ns + 1) * bucket_ns;
  table_.emplace(TimeTable::kMaxBuckets, shift);
}

// Wherever a file says that it was: 0 is no more than the beginning of what is left.
uint64_t MergedTimes::StartOf(const ProfileFacts& profile) const {
  constexpr uint64_t kAhead = uint64_t{1} << 62;
  return kAhead + std::min(by_boot_clock_ ? profile.start_boot_ns : profile.start_unix_ns, kAhead);
}

uint64_t MergedTimes::BeginOf(const Profile& window) const {
  return StartOf(window) + static_cast<uint64_t>(window.times.begin_ns);
}

void MergedTimes::Add(const Profile& window, const ProfileRow& row, size_t to) {
  if (!table_.has_value()) return;
  while (rows_ <= to) rows_ = table_->AddRow() + size_t{1};
  const std::optional<std::vector<TimeBucket>> buckets = UnpackTimes(row.times);
  if (window.times.bucket_ns == 0 || !buckets.has_value() || buckets->empty()) {
    untimed_.resize(std::max(untimed_.size(), to + 1));
    untimed_[to] = true;
    return;
  }
  const int shift = TimeTable::ShiftOf(window.times.bucket_ns);
  // Windows begin at multiples of a second, or of their buckets if these are narrower.
  const int unit_shift = std::min(shift, TimeTable::kSecondShift);
  const uint64_t unit_ns = TimeTable::kLeastBucketNs << unit_shift;
  const uint64_t begin = (BeginOf(window) - origin_ns_ + unit_ns / 2) / unit_ns << unit_shift;
  for (const TimeBucket& bucket : *buckets)
    table_->Add(static_cast<uint32_t>(to), begin + (uint64_t{bucket.number} << shift), bucket);
}

void MergedTimes::Finish(Profile& profile) {
  if (!table_.has_value() || table_->buckets() == 0) return;
  const uint32_t first = table_->FirstBucket();
  for (size_t i = 0; i < rows_; ++i) {
    const bool is_untimed = i < untimed_.size() && untimed_[i];
    profile.rows[i].times = is_untimed ? "" : table_->Pack(static_cast<uint32_t>(i), first, 0);
  }
  const uint64_t begin_ns = origin_ns_ + first * table_->bucket_ns();
  profile.times = {.bucket_ns = table_->bucket_ns(), .begin_ns = static_cast<int64_t>(begin_ns - StartOf(profile))};
}

}  // namespace offcpu

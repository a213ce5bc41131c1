#include "profile/time_table.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace offcpu {

int TimeTable::ShiftOf(uint64_t bucket_ns) {
  return std::clamp(static_cast<int>(std::bit_width(bucket_ns / kLeastBucketNs)) - 1, 0, kMaxShift);
}

uint64_t TimeTable::BucketNsFor(uint64_t length_ns) {
  uint64_t bucket_ns = kLeastBucketNs;
  // Recordings reach a bucket at either end beside their length.
  while (bucket_ns < kSecondNs && length_ns / bucket_ns + 2 > kMaxNarrowBuckets) bucket_ns *= 2;
  return bucket_ns;
}

uint32_t TimeTable::AddRow() {
  rows_.emplace_back();
  return static_cast<uint32_t>(rows_.size() - 1);
}

void TimeTable::Add(uint32_t row, const Stretch& stretch) {
  // What lasted for days must not take up all there is for a moment, and buckets have numbers of 32 bits.
  const auto is_too_long = [&] {
    const uint64_t last = BucketOfEnd(stretch.end_ns, bucket_ns());
    const uint64_t buckets = last - stretch.begin_ns() / bucket_ns();
    return last > UINT32_MAX || buckets > (shift_ < kSecondShift ? kMaxNarrowBuckets : max_buckets_ / 4);
  };
  while (shift_ < kMaxShift && is_too_long()) Widen();
  // All of it in the buckets as they are now: they may become wider meanwhile.
  const int shift = shift_;
  SpreadOut(stretch, bucket_ns(), [&](TimeBucket bucket) {
    bucket.number >>= shift_ - shift;
    Put(row, bucket);
  });
}

void TimeTable::Add(uint32_t row, uint64_t least_bucket, TimeBucket bucket) {
  bucket.number = static_cast<uint32_t>(std::min<uint64_t>(least_bucket >> shift_, UINT32_MAX));
  Put(row, bucket);
}

void TimeTable::Put(uint32_t row, const TimeBucket& bucket) {
  TimeBuckets& buckets = rows_[row];
  const size_t before = buckets.size();
  buckets.Add(bucket);
  buckets_ += buckets.size() - before;
  used_rows_ += before == 0;
  first_ = std::min(first_, bucket.number);
  last_ = std::max(last_, bucket.number);
  while (shift_ < kMaxShift && HasTooMany()) Widen();
}

bool TimeTable::HasTooMany() const {
  if (shift_ < kSecondShift && last_ - first_ >= kMaxNarrowBuckets) return true;
  return buckets_ > std::max(max_buckets_, used_rows_);
}

void TimeTable::Widen() {
  ++shift_;
  if (used_rows_ != 0) first_ /= 2;
  last_ /= 2;
  buckets_ = 0;
  for (TimeBuckets& buckets : rows_) {
    buckets.Widen();
    buckets_ += buckets.size();
  }
}

}  // namespace offcpu

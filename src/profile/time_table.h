// The times of all rows of a profile that is being made. Bounded: where they would be more buckets than there may be,
// buckets become twice as wide, so that nothing is left out and all still adds up. A row has one bucket at least: where
// rows alone are more than that, there are as many buckets as rows, in buckets that span all of it. Buckets are
// narrower than a second only as long as they are few: a short recording shows more of its time, a long one has
// seconds.
//
// One thread; no I/O.
#ifndef OFFCPU_PROFILE_TIME_TABLE_H_
#define OFFCPU_PROFILE_TIME_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "profile/time_buckets.h"

namespace offcpu {

class TimeTable {
 public:
  static constexpr int kSecondShift = 6;
  static constexpr uint64_t kSecondNs = 1'000'000'000;
  static constexpr uint64_t kLeastBucketNs = kSecondNs >> kSecondShift;  // 15.625 ms, exactly
  static constexpr int kMaxShift = kSecondShift + 31;
  static constexpr size_t kMaxBuckets = 1u << 18;
  static constexpr uint32_t kMaxNarrowBuckets = 1024;  // from the first to the last one, narrower than a second

  static int ShiftOf(uint64_t bucket_ns);
  // The width of buckets for a recording of that length.
  static uint64_t BucketNsFor(uint64_t length_ns);

  // Buckets are as wide as the least one, shifted by `shift`, at least.
  explicit TimeTable(size_t max_buckets = kMaxBuckets, int shift = kSecondShift)
      : max_buckets_(max_buckets), shift_(shift) {}

  // Its number: they count from 0 on.
  uint32_t AddRow();
  void Add(uint32_t row, const Stretch& stretch);
  // Adds to a bucket of the least width, whatever bucket the bucket names.
  void Add(uint32_t row, uint64_t least_bucket, TimeBucket bucket);

  uint64_t bucket_ns() const { return kLeastBucketNs << shift_; }
  size_t buckets() const { return buckets_; }
  const TimeBuckets& of(uint32_t row) const { return rows_[row]; }
  // The first bucket that any row has something of.
  uint32_t FirstBucket() const { return used_rows_ == 0 ? 0 : first_; }
  // The times of a row, from bucket `first` on; see PackTimes.
  std::string Pack(uint32_t row, uint32_t first, uint64_t excess) const { return PackTimes(rows_[row], first, excess); }

 private:
  void Put(uint32_t row, const TimeBucket& bucket);
  bool HasTooMany() const;
  void Widen();

  size_t max_buckets_;
  int shift_;
  size_t buckets_ = 0;                                     // of all rows
  size_t used_rows_ = 0;                                   // that have one
  uint32_t first_ = std::numeric_limits<uint32_t>::max();  // bucket that any row has something of
  uint32_t last_ = 0;
  std::vector<TimeBuckets> rows_;
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_TIME_TABLE_H_

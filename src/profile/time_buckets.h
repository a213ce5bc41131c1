// When a row has what it has: its sums by time buckets, all of one length. Plain values; pure.
//
// A wait lies in all the buckets that it lasts in, to the nanosecond, and counts in the one that it ends in. One that
// was sampled has the time that it stands for where it was itself. Buckets are counted from some instant; see TimeGrid
// in profile.h.
#ifndef OFFCPU_PROFILE_TIME_BUCKETS_H_
#define OFFCPU_PROFILE_TIME_BUCKETS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "profile/profile_row.h"

namespace offcpu {

// What a row has of one bucket; as RowSums.
struct TimeBucket {
  uint32_t number = 0;
  uint64_t blocked_ns = 0;
  uint64_t runnable_ns = 0;
  uint64_t count = 0;
  uint64_t cpu_ns = 0;
  uint64_t samples = 0;
  double count_excess = 0;

  static TimeBucket Of(uint32_t number, const RowSums& sums);
  void Add(const TimeBucket& other);
};

// Those that add up.
inline constexpr std::array<uint64_t TimeBucket::*, 5> kBucketFigures = {
    &TimeBucket::blocked_ns, &TimeBucket::runnable_ns, &TimeBucket::count, &TimeBucket::cpu_ns, &TimeBucket::samples};

// One wait, a part of one, or a sample, and where it lies. One that lasted no time has all that it stands for there.
struct Stretch {
  uint64_t end_ns = 0;      // scheduler's clock
  uint64_t blocked_ns = 0;  // that it lasted until then, first blocked
  uint64_t runnable_ns = 0;
  TimeBucket sums;  // what it stands for; without a bucket

  uint64_t begin_ns() const { return end_ns - std::min(end_ns, blocked_ns + runnable_ns); }
};

// By bucket, each once.
class TimeBuckets {
 public:
  void Add(const TimeBucket& bucket);
  // Buckets become twice as wide.
  void Widen();

  size_t size() const { return buckets_.size(); }
  auto begin() const { return buckets_.begin(); }
  auto end() const { return buckets_.end(); }

 private:
  absl::InlinedVector<TimeBucket, 1> buckets_;
};

// The bucket that an instant lies in, if it is the end of something.
inline uint64_t BucketOfEnd(uint64_t end_ns, uint64_t bucket_ns) { return (end_ns - (end_ns != 0)) / bucket_ns; }

// In the order of time. No part of it is lost or counted twice.
void SpreadOut(const Stretch& stretch, uint64_t bucket_ns, absl::FunctionRef<void(const TimeBucket&)> visit);

// As a few bytes: of each bucket, how many buckets lie between it and the one before it, shifted by 3, how many of its
// five figures follow (the others are 0), and these, in the order of kBucketFigures; all as numbers of 7 bits a byte.
// Buckets are counted from `first`, which none is below. `excess`: the sum of the excesses, as the row has rounded it.
std::string PackTimes(const TimeBuckets& buckets, uint32_t first, uint64_t excess);

// Nothing if the bytes are not as PackTimes makes them.
std::optional<std::vector<TimeBucket>> UnpackTimes(std::string_view packed);

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_TIME_BUCKETS_H_

// When a row has what it has: its sums by columns of time, all of one length. Plain values; pure.
//
// A wait lies in all the columns that it lasts in, to the nanosecond, and counts in the one that it ends in. One that
// was drawn has the time that it stands for where it was itself. Columns are counted from some instant; see TimeGrid
// in profile.h.
#ifndef OFFCPU_PROFILE_TIME_SLICES_H_
#define OFFCPU_PROFILE_TIME_SLICES_H_

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

// What a row has of one column; as RowSums.
struct TimeSlice {
  uint32_t column = 0;
  uint64_t blocked_ns = 0;
  uint64_t runnable_ns = 0;
  uint64_t count = 0;
  uint64_t cpu_ns = 0;
  uint64_t samples = 0;
  double count_excess = 0;

  static TimeSlice Of(uint32_t column, const RowSums& sums);
  void Add(const TimeSlice& other);
};

// Those that add up.
inline constexpr std::array<uint64_t TimeSlice::*, 5> kSliceFigures = {
    &TimeSlice::blocked_ns, &TimeSlice::runnable_ns, &TimeSlice::count, &TimeSlice::cpu_ns, &TimeSlice::samples};

// One wait, a part of one, or a sample, and where it lies. One that lasted no time has all that it stands for there.
struct Stretch {
  uint64_t end_ns = 0;      // scheduler's clock
  uint64_t blocked_ns = 0;  // that it lasted until then, first blocked
  uint64_t runnable_ns = 0;
  TimeSlice sums;  // what it stands for; without a column

  uint64_t begin_ns() const { return end_ns - std::min(end_ns, blocked_ns + runnable_ns); }
};

// By column, each once.
class TimeSlices {
 public:
  void Add(const TimeSlice& slice);
  // Columns become twice as wide.
  void Widen();

  size_t size() const { return slices_.size(); }
  auto begin() const { return slices_.begin(); }
  auto end() const { return slices_.end(); }

 private:
  absl::InlinedVector<TimeSlice, 1> slices_;
};

// The column that an instant lies in, if it is the end of something.
inline uint64_t ColumnOfEnd(uint64_t end_ns, uint64_t column_ns) { return (end_ns - (end_ns != 0)) / column_ns; }

// In the order of time. No part of it is lost or counted twice.
void SpreadOut(const Stretch& stretch, uint64_t column_ns, absl::FunctionRef<void(const TimeSlice&)> visit);

// As a few bytes: of each slice, how many columns lie between it and the one before it, shifted by 3, how many of its
// five figures follow (the others are 0), and these, in the order of kSliceFigures; all as numbers of 7 bits a byte.
// Columns are counted from `first`, which none is below. `excess`: the sum of the excesses, as the row has rounded it.
std::string PackTimes(const TimeSlices& slices, uint32_t first, uint64_t excess);

// Nothing if the bytes are not as PackTimes makes them.
std::optional<std::vector<TimeSlice>> UnpackTimes(std::string_view packed);

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_TIME_SLICES_H_

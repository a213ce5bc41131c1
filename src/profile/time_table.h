// The times of all rows of a profile that is being made. Bounded: where they would be more slices than there may be,
// columns become twice as wide, so that nothing is left out and all still adds up. A row has one slice at least: where
// rows alone are more than that, there are as many slices as rows, in columns that span all of it. Columns are narrower
// than a second only as long as they are few: a short recording shows more of its time, a long one has seconds.
//
// One thread; no I/O.
#ifndef OFFCPU_PROFILE_TIME_TABLE_H_
#define OFFCPU_PROFILE_TIME_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "profile/time_slices.h"

namespace offcpu {

class TimeTable {
 public:
  static constexpr int kSecondShift = 6;
  static constexpr uint64_t kSecondNs = 1'000'000'000;
  static constexpr uint64_t kLeastColumnNs = kSecondNs >> kSecondShift;  // 15.625 ms, exactly
  static constexpr int kMaxShift = kSecondShift + 31;
  static constexpr size_t kMaxSlices = 1u << 18;
  static constexpr uint32_t kMaxNarrowColumns = 1024;  // from the first to the last one, narrower than a second

  static int ShiftOf(uint64_t column_ns);
  // The width of columns for a recording of that length.
  static uint64_t ColumnFor(uint64_t length_ns);

  // Columns are as wide as the least one, shifted by `shift`, at least.
  explicit TimeTable(size_t max_slices = kMaxSlices, int shift = kSecondShift)
      : max_slices_(max_slices), shift_(shift) {}

  // Its number: they count from 0 on.
  uint32_t AddRow();
  void Add(uint32_t row, const Stretch& stretch);
  // Adds to a column of the least width, whatever column the slice names.
  void Add(uint32_t row, uint64_t least_column, TimeSlice slice);

  uint64_t column_ns() const { return kLeastColumnNs << shift_; }
  size_t slices() const { return slices_; }
  const TimeSlices& of(uint32_t row) const { return rows_[row]; }
  // The first column that any row has something of.
  uint32_t FirstColumn() const { return used_rows_ == 0 ? 0 : first_; }
  // The times of a row, from column `first` on; see PackTimes.
  std::string Pack(uint32_t row, uint32_t first, uint64_t excess) const { return PackTimes(rows_[row], first, excess); }

 private:
  void Put(uint32_t row, const TimeSlice& slice);
  bool HasTooMany() const;
  void Widen();

  size_t max_slices_;
  int shift_;
  size_t slices_ = 0;                                      // of all rows
  size_t used_rows_ = 0;                                   // that have one
  uint32_t first_ = std::numeric_limits<uint32_t>::max();  // column that any row has something of
  uint32_t last_ = 0;
  std::vector<TimeSlices> rows_;
};

}  // namespace offcpu

#endif  // OFFCPU_PROFILE_TIME_TABLE_H_

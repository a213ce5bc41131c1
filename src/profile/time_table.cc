#include "profile/time_table.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace offcpu {

int TimeTable::ShiftOf(uint64_t column_ns) {
  return std::clamp(static_cast<int>(std::bit_width(column_ns / kLeastColumnNs)) - 1, 0, kMaxShift);
}

uint32_t TimeTable::AddRow() {
  rows_.emplace_back();
  return static_cast<uint32_t>(rows_.size() - 1);
}

void TimeTable::Add(uint32_t row, const Stretch& stretch) {
  // What lasted for days must not take up all there is for a moment.
  const auto columns = [&] { return ColumnOfEnd(stretch.end_ns, column_ns()) - stretch.begin_ns() / column_ns(); };
  while (shift_ < kMaxShift && columns() > max_slices_ / 4) Widen();
  // All of it in the columns as they are now: they may become wider meanwhile.
  const int shift = shift_;
  SpreadOut(stretch, column_ns(), [&](TimeSlice slice) {
    slice.column >>= shift_ - shift;
    Put(row, slice);
  });
}

void TimeTable::Add(uint32_t row, uint64_t least_column, TimeSlice slice) {
  slice.column = static_cast<uint32_t>(std::min<uint64_t>(least_column >> shift_, UINT32_MAX));
  Put(row, slice);
}

void TimeTable::Put(uint32_t row, const TimeSlice& slice) {
  TimeSlices& slices = rows_[row];
  const size_t before = slices.size();
  slices.Add(slice);
  slices_ += slices.size() - before;
  used_rows_ += before == 0;
  while (shift_ < kMaxShift && slices_ > std::max(max_slices_, used_rows_)) Widen();
}

void TimeTable::Widen() {
  ++shift_;
  slices_ = 0;
  for (TimeSlices& slices : rows_) {
    slices.Widen();
    slices_ += slices.size();
  }
}

uint32_t TimeTable::FirstColumn() const {
  uint32_t first = std::numeric_limits<uint32_t>::max();
  for (const TimeSlices& slices : rows_) {
    if (slices.size() != 0) first = std::min(first, slices.begin()->column);
  }
  return used_rows_ == 0 ? 0 : first;
}

}  // namespace offcpu

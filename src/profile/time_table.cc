#include "profile/time_table.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace offcpu {

int TimeTable::ShiftOf(uint64_t column_ns) {
  return std::clamp(static_cast<int>(std::bit_width(column_ns / kLeastColumnNs)) - 1, 0, kMaxShift);
}

uint64_t TimeTable::ColumnFor(uint64_t length_ns) {
  uint64_t column_ns = kLeastColumnNs;
  // Recordings reach a column at either end beside their length.
  while (column_ns < kSecondNs && length_ns / column_ns + 2 > kMaxNarrowColumns) column_ns *= 2;
  return column_ns;
}

uint32_t TimeTable::AddRow() {
  rows_.emplace_back();
  return static_cast<uint32_t>(rows_.size() - 1);
}

void TimeTable::Add(uint32_t row, const Stretch& stretch) {
  // What lasted for days must not take up all there is for a moment, and columns have numbers of 32 bits.
  const auto is_too_long = [&] {
    const uint64_t last = ColumnOfEnd(stretch.end_ns, column_ns());
    const uint64_t columns = last - stretch.begin_ns() / column_ns();
    return last > UINT32_MAX || columns > (shift_ < kSecondShift ? kMaxNarrowColumns : max_slices_ / 4);
  };
  while (shift_ < kMaxShift && is_too_long()) Widen();
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
  first_ = std::min(first_, slice.column);
  last_ = std::max(last_, slice.column);
  while (shift_ < kMaxShift && HasTooMany()) Widen();
}

bool TimeTable::HasTooMany() const {
  if (shift_ < kSecondShift && last_ - first_ >= kMaxNarrowColumns) return true;
  return slices_ > std::max(max_slices_, used_rows_);
}

void TimeTable::Widen() {
  ++shift_;
  if (used_rows_ != 0) first_ /= 2;
  last_ /= 2;
  slices_ = 0;
  for (TimeSlices& slices : rows_) {
    slices.Widen();
    slices_ += slices.size();
  }
}

}  // namespace offcpu

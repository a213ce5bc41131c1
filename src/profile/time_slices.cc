#include "profile/time_slices.h"

#include <cmath>
#include <limits>

namespace offcpu {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int kFigureBits = 3;

// What `part_ns` of `all_ns` have of `weight_ns`.
uint64_t Share(uint64_t weight_ns, uint64_t part_ns, uint64_t all_ns) {
  return part_ns >= all_ns ? weight_ns : static_cast<uint64_t>(Wide{weight_ns} * part_ns / all_ns);
}

void AppendNumber(uint64_t number, std::string& bytes) {
  for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<char>(number | 0x80));
  bytes.push_back(static_cast<char>(number));
}

std::optional<uint64_t> TakeNumber(std::string_view& bytes) {
  uint64_t number = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    const uint64_t bits = byte & 0x7f;
    if (shift == 63 && bits > 1) return std::nullopt;
    number |= bits << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

}  // namespace

TimeSlice TimeSlice::Of(uint32_t column, const RowSums& sums) {
  return {.column = column,
          .blocked_ns = sums.blocked_ns,
          .runnable_ns = sums.runnable_ns,
          .count = sums.count,
          .cpu_ns = sums.cpu_ns,
          .samples = sums.samples,
          .count_excess = sums.count_excess};
}

void TimeSlice::Add(const TimeSlice& other) {
  for (const auto figure : kSliceFigures) this->*figure += other.*figure;
  count_excess += other.count_excess;
}

void TimeSlices::Add(const TimeSlice& slice) {
  const auto is_before = [](const TimeSlice& one, uint32_t column) { return one.column < column; };
  auto at = slices_.end();
  if (!slices_.empty() && slices_.back().column >= slice.column)
    at = std::lower_bound(slices_.begin(), slices_.end(), slice.column, is_before);
  if (at != slices_.end() && at->column == slice.column) {
    at->Add(slice);
  } else {
    slices_.insert(at, slice);
  }
}

void TimeSlices::Widen() {
  size_t kept = 0;
  for (size_t i = 0; i < slices_.size(); ++i) {
    TimeSlice slice = slices_[i];
    slice.column /= 2;
    if (kept != 0 && slices_[kept - 1].column == slice.column) {
      slices_[kept - 1].Add(slice);
    } else {
      slices_[kept++] = slice;
    }
  }
  slices_.resize(kept);
}

void SpreadOut(const Stretch& stretch, uint64_t column_ns, absl::FunctionRef<void(const TimeSlice&)> visit) {
  const uint64_t begin_ns = stretch.begin_ns();
  const uint64_t last = ColumnOfEnd(stretch.end_ns, column_ns);
  TimeSlice rest = stretch.sums;
  for (uint64_t column = begin_ns / column_ns; column < last; ++column) {
    const uint64_t so_far_ns = (column + 1) * column_ns - begin_ns;
    const uint64_t blocked_ns = std::min(so_far_ns, stretch.blocked_ns);
    TimeSlice slice = {.column = static_cast<uint32_t>(column)};
    const uint64_t blocked_left =
        stretch.sums.blocked_ns - Share(stretch.sums.blocked_ns, blocked_ns, stretch.blocked_ns);
    const uint64_t runnable_left =
        stretch.sums.runnable_ns - Share(stretch.sums.runnable_ns, so_far_ns - blocked_ns, stretch.runnable_ns);
    slice.blocked_ns = rest.blocked_ns - blocked_left;
    slice.runnable_ns = rest.runnable_ns - runnable_left;
    rest.blocked_ns = blocked_left;
    rest.runnable_ns = runnable_left;
    visit(slice);
  }
  rest.column = static_cast<uint32_t>(last);
  visit(rest);
}

std::string PackTimes(const TimeSlices& slices, uint32_t first, uint64_t excess) {
  std::string bytes;
  uint64_t next = first;
  uint64_t rounded = 0;
  double excess_so_far = 0;
  size_t left = slices.size();
  for (TimeSlice slice : slices) {
    excess_so_far += slice.count_excess;
    const uint64_t until_here = --left == 0 ? excess
                                            : std::clamp(static_cast<uint64_t>(std::llround(excess_so_far)), rounded,
                                                         std::max(rounded, excess));
    slice.count += until_here - rounded;
    rounded = until_here;
    size_t figures = kSliceFigures.size();
    while (figures != 0 && slice.*kSliceFigures[figures - 1] == 0) --figures;
    AppendNumber((slice.column - next) << kFigureBits | figures, bytes);
    for (size_t i = 0; i < figures; ++i) AppendNumber(slice.*kSliceFigures[i], bytes);
    next = uint64_t{slice.column} + 1;
  }
  return bytes;
}

std::optional<std::vector<TimeSlice>> UnpackTimes(std::string_view packed) {
  std::vector<TimeSlice> slices;
  uint64_t next = 0;
  while (!packed.empty()) {
    const std::optional<uint64_t> head = TakeNumber(packed);
    if (!head.has_value()) return std::nullopt;
    const uint64_t figures = *head & ((1 << kFigureBits) - 1);
    const uint64_t gap = *head >> kFigureBits;
    if (figures > kSliceFigures.size() || gap > std::numeric_limits<uint32_t>::max() - next) return std::nullopt;
    TimeSlice& slice = slices.emplace_back();
    slice.column = static_cast<uint32_t>(next + gap);
    for (size_t i = 0; i < figures; ++i) {
      const std::optional<uint64_t> figure = TakeNumber(packed);
      if (!figure.has_value()) return std::nullopt;
      slice.*kSliceFigures[i] = *figure;
    }
    next = uint64_t{slice.column} + 1;
    if (next > std::numeric_limits<uint32_t>::max() && !packed.empty()) return std::nullopt;
  }
  return slices;
}

}  // namespace offcpu
